#include "harmonium/inference/mean_field.h"

#include "harmonium/core/error.h"
#include "harmonium/inference/hidden_blocks.h"

namespace harmonium {

namespace {

void require_inferable(const BoltzmannMachine& machine, const State& data, const MeanFieldOptions& options) {
  require(options.most_sweeps >= 1, "mean field: at least one sweep is needed, not {}", options.most_sweeps);
  require(options.damping >= 0 && options.damping < 1, "mean field: the damping is in [0, 1), not {}", options.damping);
  for (const std::size_t layer : machine.hidden())
    require(
        machine.inner_edge(layer) == nullptr,
        "units of the hidden layer '{}' are joined to each other; mean field updates a whole layer at once, which is wrong then",
        machine.layers()[layer].name);
  for (const std::size_t layer : machine.observed())
    require(layer < data.layers.size() && data.layers[layer].defined(),
            "mean field: layer '{}' is observed, and no data were given", machine.layers()[layer].name);
}

}  // namespace

Posterior infer(const BoltzmannMachine& machine, const State& data, const MeanFieldOptions& options) {
  require_inferable(machine, data, options);
  Posterior q{.means = data, .fields = Fields(machine.layers().size())};
  q.means.layers.resize(machine.layers().size());
  // Before anything is known of the others, every hidden layer is as its bias says.
  for (const std::size_t layer : machine.hidden()) {
    const Unit::Parameters theta = machine.layer_parameters(layer);
    q.fields[layer] = theta[0].expand({data.rows(), theta[0].size(0)}).contiguous();
    q.means.layers[layer] = machine.unit(layer).mean(q.fields[layer], theta);
  }
  // What data add to a field stays as it is.
  const LayerSet observed = machine.observed(), hidden = machine.hidden();
  const CodedState seen = data;
  Fields from_data(machine.layers().size());
  for (const std::size_t layer : hidden)
    from_data[layer] = machine.add_input(machine.layer_parameters(layer)[0], layer, seen, observed);
  const std::vector<LayerSet> blocks = hidden_blocks(machine);
  for (q.sweeps = 0; q.sweeps < options.most_sweeps;) {
    ++q.sweeps;
    std::vector<at::Tensor> changes;  // fetched at once: each fetching from a device is a wait
    for (const LayerSet& block : blocks) {
      for (const std::size_t layer : block) {
        const at::Tensor fresh = machine.add_input(from_data[layer], layer, q.means, hidden);
        q.fields[layer] = options.damping == 0 ? fresh : at::lerp(fresh, q.fields[layer], options.damping);
        at::Tensor mean = machine.unit(layer).mean(q.fields[layer], machine.layer_parameters(layer));
        changes.push_back((mean - q.means.layers[layer]).abs().max());
        q.means.layers[layer] = std::move(mean);
      }
    }
    q.change = changes.empty() ? 0 : at::stack(changes).max().item<double>();  // empty: nothing is hidden
    if (blocks.size() < 2 && options.damping == 0) q.change = 0;               // one block alone is at its best at once
    if (q.converged(options)) break;
  }
  return q;
}

at::Tensor variational_bound(const BoltzmannMachine& machine, const Posterior& q) {
  at::Tensor total = machine.inner_potential(q.means, machine.observed());
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const Unit& unit = machine.unit(layer);
    const Unit::Parameters theta = machine.layer_parameters(layer);
    if (machine.layers()[layer].observed) {
      total = total + unit.log_potential(q.means.layers[layer], theta);
      continue;
    }
    total = total + unit.entropy(q.fields[layer], theta);
    const std::vector<at::Tensor> statistics = unit.expected_statistics(q.fields[layer], theta);
    for (std::size_t i = 0; i < statistics.size(); ++i)
      total = total + (statistics[i] * theta[i]).sum(1, false, at::kDouble);
  }
  for (const EdgeInfo& edge : machine.topology().edges)
    if (!edge.inner())
      total = total + (q.means.layers[edge.lower].mm(machine.parameters()[edge.weights]) * q.means.layers[edge.upper])
                          .sum(1, false, at::kDouble);
  return total;
}

}  // namespace harmonium
