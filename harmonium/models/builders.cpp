#include "harmonium/models/builders.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

BoltzmannMachine make_rbm(const std::string& visible, const std::string& hidden, at::ScalarType type) {
  return {{{"visible", make_unit(visible), true}, {"hidden", make_unit(hidden)}}, {{"visible", "hidden"}}, type};
}

BoltzmannMachine make_classification_rbm(const std::string& visible, std::int64_t classes, const std::string& hidden,
                                         at::ScalarType type) {
  return {{{"visible", make_unit(visible), true},
           {"label", make_unit(format("softmax:1x{}", classes)), true},
           {"hidden", make_unit(hidden)}},
          {{"visible", "hidden"}, {"label", "hidden"}},
          type};
}

namespace {

struct Chain {
  std::vector<Layer> layers;
  std::vector<Edge> edges;
};

Chain chain_of(const std::vector<std::string>& specs) {
  require(specs.size() >= 2, "a chain needs at least two layers, not {}", specs.size());
  Chain chain;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    chain.layers.push_back({i == 0 ? "visible" : format("hidden{}", i), make_unit(specs[i]), i == 0});
    if (i > 0) chain.edges.push_back({chain.layers[i - 1].name, chain.layers[i].name});
  }
  return chain;
}

}  // namespace

BoltzmannMachine make_chain(const std::vector<std::string>& specs, at::ScalarType type) {
  Chain chain = chain_of(specs);
  return {std::move(chain.layers), chain.edges, type};
}

BoltzmannMachine make_labelled_chain(const std::vector<std::string>& specs, std::int64_t classes, at::ScalarType type) {
  Chain chain = chain_of(specs);
  chain.edges.push_back({chain.layers.back().name, "label"});
  chain.layers.push_back({"label", make_unit(format("softmax:1x{}", classes)), true});
  return {std::move(chain.layers), chain.edges, type};
}

BoltzmannMachine make_mrf(const std::string& visible, at::ScalarType type) {
  return {{{"visible", make_unit(visible), true}}, {{"visible", "visible"}}, type};
}

BoltzmannMachine make_semi_restricted(const std::string& visible, const std::string& hidden, at::ScalarType type) {
  return {{{"visible", make_unit(visible), true}, {"hidden", make_unit(hidden)}},
          {{"visible", "visible"}, {"visible", "hidden"}},
          type};
}

BoltzmannMachine make_boltzmann(const std::string& visible, const std::string& hidden, const WithinLayers& within,
                                at::ScalarType type) {
  std::vector<Edge> edges;
  if (within.visible) edges.push_back({"visible", "visible"});
  edges.push_back({"visible", "hidden"});
  if (within.hidden) edges.push_back({"hidden", "hidden"});
  return {{{"visible", make_unit(visible), true}, {"hidden", make_unit(hidden)}}, edges, type};
}

void initialize(BoltzmannMachine& machine, const Key& key, double weight_scale,
                const std::vector<std::vector<at::Tensor>>& data_moments) {
  constexpr double smoothing = 1e-3;  // a pixel that is never on gets log-odds −6.9, not −∞
  Moments& parameters = machine.parameters();
  for (std::size_t edge = 0; edge < machine.topology().edges.size(); ++edge) {
    at::Tensor& weights = parameters[machine.topology().edges[edge].weights];
    weights.copy_(normal(key.fold_in(edge), weights.sizes(), weights.options()).mul_(weight_scale));
  }
  const LayerSet observed = machine.observed();
  require(data_moments.size() <= observed.size(), "initialize: moments of {} layers, but {} are observed",
          data_moments.size(), observed.size());
  for (std::size_t i = 0; i < data_moments.size(); ++i) {
    const auto& names = machine.topology().layers[observed[i]].parameters;
    const Unit::Parameters values = machine.unit(observed[i]).parameters_of(data_moments[i], smoothing);
    for (std::size_t j = 0; j < names.size(); ++j) parameters[names[j]].copy_(values[j]);
  }
  machine.constrain_();
}

bool is_binary_rbm(const BoltzmannMachine& machine) {
  const auto& edges = machine.topology().edges;
  const auto binary = [](const Layer& layer) { return layer.unit->support() == Unit::Support::bits; };
  return machine.layers().size() == 2 && edges.size() == 1 && edges[0].lower == 0 && edges[0].upper == 1 &&
         std::ranges::all_of(machine.layers(), binary);
}

}  // namespace harmonium
