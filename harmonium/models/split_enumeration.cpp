#include "harmonium/models/split_enumeration.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::int64_t enough_lows = 512;             // rows of the smaller half: they and a few highs stay in cache
constexpr std::int64_t most_lows = 1 << 16;           // a part with more values than that is among the highs
constexpr std::int64_t elements_per_chunk = 1 << 28;  // pairs × summed units: tens of milliseconds of work
constexpr std::int64_t pairs_per_chunk = 1 << 19;     // what callers do with log-weights stays in cache

}  // namespace

SplitEnumeration::SplitEnumeration(BoltzmannMachine machine, EnumerationPlan plan)
    : machine_(std::move(machine)), plan_(std::move(plan)) {
  require(machine_.scalar_type() == at::kDouble, "enumeration needs a machine in float64");
  // Whole digits only, and none left out, so that a state's number is low + lows·high.
  std::int64_t lows = 1;
  bool fits = true;
  for (const std::size_t layer : plan_.enumerated) {
    const Unit::Digit digit = machine_.unit(layer).digit();
    fits = fits && digit.values <= most_lows;
    for (std::int64_t column = 0; fits && column < machine_.unit(layer).width() && lows < enough_lows;
         column += digit.columns)
      lows *= digit.values;
  }
  highs_ = static_cast<std::int64_t>(plan_.states) / lows;
  zero_ = enumerated_states(machine_, plan_, at::zeros({1}, at::kLong));
  low_ = enumerated_states(machine_, plan_, at::arange(lows, at::kLong));
  zero_values_ = values(zero_);
  low_deviation_ = values(low_) - zero_values_;
  low_own_ = own_potential(low_) - own_potential(zero_);
  low_fields_.resize(machine_.layers().size());
  for (const std::size_t layer : plan_.summed)
    low_fields_[layer] = machine_.input(layer, low_) - machine_.input(layer, zero_);

  std::vector<std::int64_t> begin(machine_.layers().size(), -1);
  std::int64_t width = 0;
  for (const std::size_t layer : plan_.enumerated) {
    begin[layer] = width;
    width += machine_.unit(layer).width();
  }
  for (const EdgeInfo& edge : machine_.topology().edges) {
    if (begin[edge.lower] < 0 || begin[edge.upper] < 0) continue;
    if (!coupling_.defined()) coupling_ = at::zeros({width, width}, at::kDouble);
    const at::Tensor& weights = machine_.parameters()[edge.weights];
    const auto add = [&](std::size_t rows, std::size_t columns, const at::Tensor& block) {
      coupling_.narrow(0, begin[rows], block.size(0)).narrow(1, begin[columns], block.size(1)).add_(block);
    };
    add(edge.lower, edge.upper, weights);
    add(edge.upper, edge.lower, weights.t());
  }
}

at::Tensor SplitEnumeration::values(const State& state) const {
  std::vector<at::Tensor> columns = {at::zeros({state.rows(), 0}, at::kDouble)};
  for (const std::size_t layer : plan_.enumerated) columns.push_back(state.layers[layer]);
  return at::cat(columns, 1);
}

at::Tensor SplitEnumeration::own_potential(const State& state) const {
  at::Tensor total = at::zeros({state.rows()}, at::kDouble);
  for (const std::size_t layer : plan_.enumerated)
    total += machine_.unit(layer).log_factor(state.layers[layer], machine_.layer_parameters(layer));
  const auto enumerated = [&](std::size_t layer) {
    return std::ranges::find(plan_.enumerated, layer) != plan_.enumerated.end();
  };
  for (const EdgeInfo& edge : machine_.topology().edges)
    if (enumerated(edge.lower) && enumerated(edge.upper))
      total += (state.layers[edge.lower].mm(machine_.parameters()[edge.weights]) * state.layers[edge.upper]).sum(1);
  return total;
}

State SplitEnumeration::high_states(std::int64_t first, std::int64_t count) const {
  return enumerated_states(machine_, plan_, at::arange(first, first + count, at::kLong) * lows());
}

at::Tensor SplitEnumeration::high_deviation(std::int64_t first, std::int64_t count) const {
  return values(high_states(first, count)) - zero_values_;
}

at::Tensor SplitEnumeration::log_weights(std::int64_t first, std::int64_t count) const {
  const State high = high_states(first, count);
  at::Tensor total = own_potential(high).unsqueeze(1) + low_own_.unsqueeze(0);
  if (coupling_.defined()) total.addmm_((values(high) - zero_values_).mm(coupling_), low_deviation_.t());
  for (const std::size_t layer : plan_.summed)
    total += machine_.unit(layer).pair_log_partitions(machine_.field(layer, high), low_fields_[layer],
                                                      machine_.layer_parameters(layer));
  return total;
}

void SplitEnumeration::for_each(const std::function<void(std::int64_t, const at::Tensor&)>& visit,
                                const std::function<void(std::int64_t, std::int64_t)>& progress) const {
  std::int64_t width = 1;
  for (const std::size_t layer : plan_.summed) width = std::max(width, machine_.unit(layer).width());
  const std::int64_t pairs = std::min(pairs_per_chunk, elements_per_chunk / width);
  const std::int64_t at_once = std::clamp<std::int64_t>(pairs / lows(), 1, highs_);
  if (progress) progress(0, highs_ * lows());  // so that who watches knows when it began
  for (std::int64_t first = 0; first < highs_; first += at_once) {
    const std::int64_t count = std::min(at_once, highs_ - first);
    visit(first, log_weights(first, count));
    if (progress) progress((first + count) * lows(), highs_ * lows());
  }
}

}  // namespace harmonium
