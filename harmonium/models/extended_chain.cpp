#include "harmonium/models/extended_chain.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"

namespace harmonium {

std::string extension_complaint(const BoltzmannMachine& trained, const std::vector<std::string>& chain) {
  const std::vector<EdgeInfo>& edges = trained.topology().edges;
  bool is_chain = trained.observed() == LayerSet{0} && edges.size() + 1 == trained.layers().size();
  for (std::size_t i = 0; i < edges.size(); ++i) is_chain = is_chain && edges[i].lower == i && edges[i].upper == i + 1;
  if (!is_chain) return "it is no chain of layers without labels, such as an RBM or a deep Boltzmann machine";
  if (trained.layers().size() >= chain.size())
    return format("it has {} hidden layers already, and the deep machine shall have {}", trained.layers().size() - 1,
                  chain.size() - 1);
  for (std::size_t i = 0; i < trained.layers().size(); ++i)
    if (trained.unit(i).spec() != chain[i])
      return format("its layer '{}' is {}, and that of the deep machine shall be {}", trained.layers()[i].name,
                    trained.unit(i).spec(), chain[i]);
  return {};
}

BoltzmannMachine extend_chain(const BoltzmannMachine& trained, const std::vector<std::string>& chain, const Key& key,
                              double weight_scale) {
  const std::string complaint = extension_complaint(trained, chain);
  require(complaint.empty(), "a deep machine cannot begin with this one: {}", complaint);
  BoltzmannMachine machine = make_chain(chain, trained.scalar_type());
  const auto parameters = [](const BoltzmannMachine& of, std::size_t layer) { return of.layer_parameters(layer); };
  for (std::size_t layer = 0; layer < trained.layers().size(); ++layer)
    for (std::size_t i = 0; i < parameters(trained, layer).size(); ++i)
      parameters(machine, layer)[i].copy_(parameters(trained, layer)[i]);
  const auto weights = [&](std::size_t edge) { return machine.parameters()[machine.topology().edges[edge].weights]; };
  for (std::size_t edge = 0; edge + 1 < chain.size(); ++edge) {
    at::Tensor here = weights(edge);
    if (edge < trained.topology().edges.size()) {
      here.copy_(trained.parameters()[trained.topology().edges[edge].weights]);
      continue;
    }
    here.copy_(normal(key.fold_in(edge), here.sizes(), here.scalar_type()).mul_(weight_scale));
    const std::size_t above = edge + 1;
    const Unit::Parameters theta = parameters(machine, above);
    const at::Tensor means = machine.unit(above).mean(theta[0].unsqueeze(0), theta);
    parameters(machine, edge)[0].sub_(here.mv(means.squeeze(0)));
  }
  return machine;
}

}  // namespace harmonium
