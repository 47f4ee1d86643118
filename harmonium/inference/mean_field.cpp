#include "harmonium/inference/mean_field.h"

#include <tuple>

#include "harmonium/core/error.h"
#include "harmonium/inference/hidden_blocks.h"
#include "harmonium/kernels/site_means.h"

namespace harmonium {

namespace {

void require_inferable(const BoltzmannMachine& machine, const State& data, const MeanFieldOptions& options) {
  require(options.most_sweeps >= 1, "mean field: at least one sweep is needed, not {}", options.most_sweeps);
  require(options.damping >= 0 && options.damping < 1, "mean field: the damping is in [0, 1), not {}", options.damping);
  for (const std::size_t layer : machine.observed())
    require(layer < data.layers.size() && data.layers[layer].defined(),
            "mean field: layer '{}' is observed, and no data were given", machine.layers()[layer].name);
}

SiteMeans site_means_of(const BoltzmannMachine& machine, std::size_t layer, const at::Tensor& total,
                        const at::Tensor& field, const MeanFieldOptions& options) {
  return {.total = total,
          .field = field,
          .couplings = machine.couplings(layer),
          .columns = machine.unit(layer).digit().columns,
          .damping = options.damping};
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
  // One block of units that are not joined is at its best at once.
  const bool at_once =
      blocks.size() < 2 && machine.without_inner_edges(hidden).size() == hidden.size() && options.damping == 0;
  for (q.sweeps = 0; q.sweeps < options.most_sweeps;) {
    ++q.sweeps;
    std::vector<at::Tensor> changes;  // fetched at once: each fetching from a device is a wait
    for (const LayerSet& block : blocks) {
      for (const std::size_t layer : block) {
        const at::Tensor fresh = machine.add_input(from_data[layer], layer, q.means, hidden);
        at::Tensor mean;
        if (machine.inner_edge(layer) == nullptr) {
          q.fields[layer] = options.damping == 0 ? fresh : at::lerp(fresh, q.fields[layer], options.damping);
          mean = machine.unit(layer).mean(q.fields[layer], machine.layer_parameters(layer));
        } else {
          std::tie(mean, q.fields[layer]) =
              site_means(q.means.layers[layer], site_means_of(machine, layer, fresh, q.fields[layer], options));
        }
        changes.push_back((mean - q.means.layers[layer]).abs().max());
        q.means.layers[layer] = std::move(mean);
      }
    }
    q.change = changes.empty() ? 0 : at::stack(changes).max().item<double>();  // empty: nothing is hidden
    if (at_once) q.change = 0;
    if (q.converged(options)) break;
  }
  return q;
}

at::Tensor means_given_others(const BoltzmannMachine& machine, std::size_t layer, const State& others,
                              const MeanFieldOptions& options) {
  LayerSet from;
  for (std::size_t each = 0; each < machine.layers().size(); ++each)
    if (each != layer) from.push_back(each);
  const Unit::Parameters theta = machine.layer_parameters(layer);
  State state = others;
  state.layers[layer].reset();
  const at::Tensor given = machine.add_input(theta[0], layer, state, from);
  at::Tensor field = given;
  state.layers[layer] = machine.unit(layer).mean(field, theta);
  if (machine.inner_edge(layer) == nullptr) return state.layers[layer];
  for (std::int64_t sweep = 0; sweep < options.most_sweeps; ++sweep) {
    const at::Tensor total = machine.add_input(given, layer, state, {layer}), before = state.layers[layer];
    std::tie(state.layers[layer], field) = site_means(before, site_means_of(machine, layer, total, field, options));
    if ((state.layers[layer] - before).abs().max().item<double>() <= options.tolerance) break;
  }
  return state.layers[layer];
}

at::Tensor variational_bound(const BoltzmannMachine& machine, const Posterior& q) {
  at::Tensor total = at::zeros({q.means.rows()}, machine.options(at::kDouble));
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const Unit& unit = machine.unit(layer);
    const Unit::Parameters theta = machine.layer_parameters(layer);
    if (machine.layers()[layer].observed) {
      total = total + unit.log_factor(q.means.layers[layer], theta);
      continue;
    }
    total = total + unit.entropy(q.fields[layer], theta);
    const std::vector<at::Tensor> statistics = unit.expected_statistics(q.fields[layer], theta);
    for (std::size_t i = 0; i < statistics.size(); ++i)
      total = total + (statistics[i] * theta[i]).sum(1, false, at::kDouble);
  }
  // Under q units are independent, and an edge inside a layer joins no unit to itself.
  for (const EdgeInfo& edge : machine.topology().edges)
    total = total + (q.means.layers[edge.lower].mm(machine.parameters()[edge.weights]) * q.means.layers[edge.upper])
                        .sum(1, false, at::kDouble);
  return total;
}

}  // namespace harmonium
