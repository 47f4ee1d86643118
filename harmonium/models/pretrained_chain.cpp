#include "harmonium/models/pretrained_chain.h"

#include "harmonium/core/error.h"
#include "harmonium/models/builders.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

std::vector<std::pair<std::string, std::string>> pretraining_rbms(const std::vector<std::string>& chain) {
  require(chain.size() >= 3, "pretraining puts RBMs together, and a chain of {} layers is {}; give two hidden layers",
          chain.size(), chain.size() == 2 ? "one RBM" : "none");
  for (const std::string& spec : chain)
    require(unit_type(spec).support == Unit::Support::bits, "pretraining needs layers of binary units, not {}", spec);
  const auto twins = [](const std::string& spec) { return format("twin:{}", make_unit(spec)->width()); };
  std::vector<std::pair<std::string, std::string>> rbms;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i)
    rbms.emplace_back(i == 0 ? twins(chain[i]) : chain[i], i + 2 == chain.size() ? twins(chain[i + 1]) : chain[i + 1]);
  return rbms;
}

BoltzmannMachine compose_chain(const std::vector<BoltzmannMachine>& rbms) {
  require(rbms.size() >= 2, "a deep machine is put together from two RBMs or more, not {}", rbms.size());
  std::vector<std::string> chain = {format("bernoulli:{}", rbms.front().unit(0).width())};
  for (const BoltzmannMachine& rbm : rbms) {
    const std::int64_t below = make_unit(chain.back())->width();
    require(rbm.layers().size() == 2 && rbm.topology().edges.size() == 1 && rbm.unit(0).width() == below,
            "an RBM upon a layer of {} units must have as many visible ones, not {}", below, rbm.unit(0).width());
    chain.push_back(format("bernoulli:{}", rbm.unit(1).width()));
  }
  const auto specs = pretraining_rbms(chain);
  BoltzmannMachine machine = make_chain(chain, rbms.front().scalar_type());
  for (std::size_t i = 0; i < rbms.size(); ++i) {
    const BoltzmannMachine& rbm = rbms[i];
    require(rbm.unit(0).spec() == specs[i].first && rbm.unit(1).spec() == specs[i].second,
            "RBM {} of {} must join {} to {}, not {} to {}", i + 1, rbms.size(), specs[i].first, specs[i].second,
            rbm.unit(0).spec(), rbm.unit(1).spec());
    const auto add_half = [&](const std::string& name, const std::string& from) {
      machine.parameters()[name].add_(rbm.parameters()[from], 0.5);
    };
    add_half(machine.topology().layers[i].parameters[0], rbm.topology().layers[0].parameters[0]);
    add_half(machine.topology().layers[i + 1].parameters[0], rbm.topology().layers[1].parameters[0]);
    add_half(machine.topology().edges[i].weights, rbm.topology().edges[0].weights);
  }
  return machine;
}

}  // namespace harmonium
