#include "harmonium/inference/sampled_posterior.h"

#include "harmonium/core/error.h"
#include "harmonium/inference/hidden_blocks.h"
#include "harmonium/inference/mean_field.h"
#include "harmonium/kernels/binary_product.h"

namespace harmonium {

SampledPosterior::SampledPosterior(const BoltzmannMachine& machine, std::int64_t rows,
                                   const SampledPosteriorOptions& options, const Key& key)
    : options_(options),
      blocks_(hidden_blocks_from_data(machine)),
      turn_(machine.layers().size(), 0),
      kept_(machine.layers().size()) {
  require(options.sweeps >= 1, "the posterior needs at least one sweep at every visit of a row, not {}",
          options.sweeps);
  for (std::size_t block = 0; block < blocks_.size(); ++block)
    for (const std::size_t layer : blocks_[block]) {
      turn_[layer] = block + 1;
      require(machine.inner_edge(layer) == nullptr,
              "units of the hidden layer '{}' are joined to each other: a sampled posterior draws a layer at once",
              machine.layers()[layer].name);
      if (block == 0 || !options.persistent) continue;
      const Unit& unit = machine.unit(layer);
      const Unit::Parameters theta = machine.layer_parameters(layer);
      const at::ScalarType type = unit.indicator() ? at::kByte : machine.scalar_type();
      kept_[layer] = at::empty({rows, unit.width()}, machine.options(type));
      constexpr std::int64_t rows_at_once = 1 << 14;
      for (std::int64_t first = 0; first < rows; first += rows_at_once) {
        const std::int64_t count = std::min(rows_at_once, rows - first);
        const Key own = key.fold_in(layer).fold_in(static_cast<std::uint64_t>(first));
        kept_[layer]
            .narrow(0, first, count)
            .copy_(unit.sample(own, theta[0].expand({count, theta[0].size(0)}).contiguous(), theta));
      }
    }
}

CodedState SampledPosterior::start(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                   const Key& key) const {
  CodedState state = data;
  state.layers.resize(machine.layers().size());
  if (!options_.persistent) {
    const Posterior q = infer(machine, data);
    for (std::size_t block = 1; block < blocks_.size(); ++block)
      for (const std::size_t layer : blocks_[block])
        state.layers[layer] =
            machine.unit(layer).sample(key.fold_in(layer), q.fields[layer], machine.layer_parameters(layer));
    return state;
  }
  for (std::size_t layer = 0; layer < kept_.size(); ++layer)
    if (kept_[layer].defined()) state.layers[layer] = kept_[layer].index_select(0, rows).to(machine.scalar_type());
  return state;
}

Moments SampledPosterior::data_moments(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                       const Key& key) {
  require(rows.size(0) == data.rows(), "{} row numbers for a batch of {} rows", rows.size(0), data.rows());
  CodedState state = start(machine, data, rows, key.fold_in(0));
  Fields fields(machine.layers().size());
  for (std::int64_t sweep = 0; sweep < options_.sweeps; ++sweep)
    for (const LayerSet& block : blocks_)
      for (const std::size_t layer : block)
        state.layers[layer] = machine.draw(layer, key.fold_in(1 + static_cast<std::uint64_t>(sweep)).fold_in(layer),
                                           state, &fields[layer]);
  for (std::size_t layer = 0; layer < kept_.size(); ++layer)
    if (kept_[layer].defined())
      kept_[layer].index_copy_(0, rows, state.layers[layer].table().to(kept_[layer].scalar_type()));

  Moments result;
  std::vector<CodedTable> means(machine.layers().size());
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const Unit& unit = machine.unit(layer);
    const Unit::Parameters theta = machine.layer_parameters(layer);
    const bool observed = turn_[layer] == 0;
    means[layer] = observed ? state.layers[layer] : CodedTable(unit.mean(fields[layer], theta));
    const std::vector<at::Tensor> unary =
        observed ? unit.moments(state.layers[layer].table(), {}) : unit.expected_moments(fields[layer], theta, {});
    for (std::size_t i = 0; i < unary.size(); ++i)
      result.insert(machine.topology().layers[layer].parameters[i], unary[i]);
  }
  for (const EdgeInfo& edge : machine.topology().edges) {
    const bool upper_later = turn_[edge.upper] >= turn_[edge.lower];
    const CodedTable& lower = upper_later ? state.layers[edge.lower] : means[edge.lower];
    const CodedTable& upper = upper_later ? means[edge.upper] : state.layers[edge.upper];
    result.insert(edge.weights, edge.masked(mean_outer_product(lower, upper)));
  }
  return result;
}

double SampledPosterior::bytes(const BoltzmannMachine& machine, std::int64_t rows) {
  double units = 0;
  const std::vector<LayerSet> blocks = hidden_blocks_from_data(machine);
  for (std::size_t block = 1; block < blocks.size(); ++block)
    for (const std::size_t layer : blocks[block])
      units += static_cast<double>(machine.unit(layer).width()) * (machine.unit(layer).indicator() ? 1 : 4);
  return units * static_cast<double>(rows);
}

NamedTensors SampledPosterior::state() const {
  NamedTensors all;
  for (std::size_t layer = 0; layer < kept_.size(); ++layer)
    if (kept_[layer].defined()) all.emplace_back(format("rows.{}", layer), kept_[layer]);
  return all;
}

void SampledPosterior::restore(const NamedTensors& saved) {
  for (std::size_t layer = 0; layer < kept_.size(); ++layer) {
    if (!kept_[layer].defined()) continue;
    const at::Tensor found = find_tensor(saved, format("rows.{}", layer), "sampled posterior");
    require(found.sizes() == kept_[layer].sizes(),
            "sampled posterior: the saved states are of other rows or units than those of this training");
    kept_[layer].copy_(found);
  }
}

}  // namespace harmonium
