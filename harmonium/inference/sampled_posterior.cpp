#include "harmonium/inference/sampled_posterior.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/inference/hidden_blocks.h"
#include "harmonium/inference/kept_rows.h"
#include "harmonium/kernels/binary_product.h"
#include "harmonium/kernels/site_sweep.h"

namespace harmonium {

namespace {

using Start = SampledPosteriorOptions::Start;

}  // namespace

SampledPosterior::SampledPosterior(const BoltzmannMachine& machine, std::int64_t rows,
                                   const SampledPosteriorOptions& options, const Key& key)
    : options_(options),
      blocks_(hidden_blocks_from_data(machine)),
      turn_(machine.layers().size(), 0),
      kept_(machine.layers().size()) {
  require(options.sweeps >= 1, "the posterior needs at least one sweep at every visit of a row, not {}",
          options.sweeps);
  require(options.temperature >= 1, "a posterior is annealed from a temperature of 1 or more, not {}",
          options.temperature);
  for (std::size_t block = 0; block < blocks_.size(); ++block)
    for (const std::size_t layer : blocks_[block]) turn_[layer] = block + 1;
  for (const std::size_t layer : machine.hidden()) {
    const Unit& unit = machine.unit(layer);
    require(options.start != Start::hot || unit.parameter_names().size() == 1,
            "the hidden layer '{}' ({}) cannot be annealed with data held: that is made for binary and softmax layers",
            machine.layers()[layer].name, unit.spec());
    if (options.start != Start::kept || !begins_with(machine, layer)) continue;
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

bool SampledPosterior::begins_with(const BoltzmannMachine& machine, std::size_t layer) const {
  return turn_[layer] > 1 || (turn_[layer] == 1 && machine.inner_edge(layer) != nullptr);
}

CodedState SampledPosterior::start(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                   const Key& key) const {
  CodedState state = data;
  state.layers.resize(machine.layers().size());
  if (options_.start == Start::kept) {
    for (std::size_t layer = 0; layer < kept_.size(); ++layer)
      if (kept_[layer].defined()) state.layers[layer] = kept_[layer].index_select(0, rows).to(machine.scalar_type());
    return state;
  }
  const Fields fields =
      options_.start == Start::mean_field ? infer(machine, data, options_.mean_field).fields : Fields();
  for (const std::size_t layer : machine.hidden()) {
    if (!begins_with(machine, layer)) continue;
    const Unit& unit = machine.unit(layer);
    // Infinitely hot, every state is as likely as any other.
    const at::Tensor field = fields.empty() ? at::zeros({data.rows(), unit.width()}, machine.options()) : fields[layer];
    state.layers[layer] = unit.sample(key.fold_in(layer), field, machine.layer_parameters(layer));
  }
  return state;
}

double SampledPosterior::beta_of(std::int64_t sweep) const {
  if (options_.start != Start::hot) return 1;
  const double left = options_.sweeps == 1
                          ? 0
                          : static_cast<double>(options_.sweeps - 1 - sweep) / static_cast<double>(options_.sweeps - 1);
  return std::pow(options_.temperature, -left);
}

void SampledPosterior::redraw(const BoltzmannMachine& machine, std::size_t layer, CodedState& state, double beta,
                              const Key& key, at::Tensor& field) const {
  if (machine.inner_edge(layer) != nullptr) {
    state.layers[layer] = site_sweep(key, state.layers[layer].table(),
                                     {.field = machine.field(layer, state) * beta,
                                      .couplings = machine.couplings(layer),
                                      .scale = beta,
                                      .columns = machine.unit(layer).digit().columns});
    field = machine.field(layer, state);
  } else if (beta == 1) {
    state.layers[layer] = machine.draw(layer, key, state, &field);
  } else {
    field = machine.field(layer, state);
    state.layers[layer] = machine.unit(layer).sample(key, field * beta, machine.layer_parameters(layer));
  }
}

Moments SampledPosterior::data_moments(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                       const Key& key) {
  require(rows.size(0) == data.rows(), "{} row numbers for a batch of {} rows", rows.size(0), data.rows());
  CodedState state = start(machine, data, rows, key.fold_in(0));
  Fields fields(machine.layers().size());
  for (std::int64_t sweep = 0; sweep < options_.sweeps; ++sweep)
    for (const LayerSet& block : blocks_)
      for (const std::size_t layer : block)
        redraw(machine, layer, state, beta_of(sweep), key.fold_in(1 + static_cast<std::uint64_t>(sweep)).fold_in(layer),
               fields[layer]);
  for (std::size_t layer = 0; layer < kept_.size(); ++layer) {
    if (!kept_[layer].defined()) continue;
    keep_rows(kept_[layer], rows, state.layers[layer].table());
  }

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
    if (edge.inner() && turn_[edge.lower] > 0) {
      const CodedTable &drawn = state.layers[edge.lower], &mean = means[edge.lower];
      result.insert(edge.weights,
                    edge.masked(mean_outer_product(drawn, mean) + mean_outer_product(mean, drawn)).mul_(0.5));
      continue;
    }
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
  for (std::size_t block = 0; block < blocks.size(); ++block)
    for (const std::size_t layer : blocks[block])
      if (block > 0 || machine.inner_edge(layer) != nullptr)
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
