#include "harmonium/models/enumeration.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Rows × summed width of a chunk: 2 M numbers (16 MB) stay near the caches and keep the matrix product busy.
constexpr std::int64_t chunk_elements = 1 << 21;

}  // namespace

std::string EnumerationPlan::describe(const BoltzmannMachine& machine) const {
  std::string names;
  for (const std::size_t layer : enumerated) names += (names.empty() ? "" : "+") + machine.layers()[layer].name;
  const double bits = std::log2(states);
  return bits == std::floor(bits) ? format("2^{:.0f} states of {}", bits, names)
                                  : format("{:.0f} states of {}", states, names);
}

EnumerationPlan plan_enumeration(const BoltzmannMachine& machine, int max_bits) {
  EnumerationPlan best;
  bool found = false;
  for (const LayerSet& block : machine.blocks()) {
    EnumerationPlan plan;
    plan.summed = machine.without_inner_edges(block);
    plan.states = 1;
    bool finite = true;
    for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
      if (std::ranges::find(plan.summed, layer) != plan.summed.end()) continue;
      plan.enumerated.push_back(layer);
      const auto count = machine.unit(layer).state_count();
      finite = finite && count.has_value();
      plan.states *= count.value_or(1);
    }
    if (finite && (!found || plan.states < best.states)) {
      best = plan;
      found = true;
    }
  }
  require(found, "no side of this machine can be enumerated: both hold continuous units");
  require(best.states <= std::exp2(max_bits),
          "exact enumeration needs {}, more than the limit of 2^{}; use an estimate (ais) instead",
          best.describe(machine), max_bits);
  return best;
}

bool can_enumerate(const BoltzmannMachine& machine, int max_bits) {
  try {
    return plan_enumeration(machine, max_bits).states > 0;
  } catch (const Error&) {
    return false;
  }
}

State enumerated_states(const BoltzmannMachine& machine, const EnumerationPlan& plan, const at::Tensor& numbers) {
  State state;
  state.layers.resize(machine.layers().size());
  at::Tensor rest = numbers;
  for (const std::size_t layer : plan.enumerated) {
    const auto count = static_cast<std::int64_t>(*machine.unit(layer).state_count());
    state.layers[layer] = machine.unit(layer).states(at::remainder(rest, count), at::kDouble);
    rest = at::floor_divide(rest, count);
  }
  // A machine without edges is summed out as a whole; one row, whose values nobody looks at, stands for it.
  if (plan.enumerated.empty()) state.layers[0] = at::zeros({1, machine.unit(0).width()}, at::kDouble);
  return state;
}

void for_each_state(const BoltzmannMachine& machine, const EnumerationPlan& plan,
                    const std::function<void(const State&, const at::Tensor&)>& visit,
                    const std::function<void(std::int64_t, std::int64_t)>& progress) {
  require(machine.scalar_type() == at::kDouble, "enumeration needs a machine in float64");
  std::int64_t width = 1;
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    width = std::max(width, machine.unit(layer).width());
  const auto total = static_cast<std::int64_t>(plan.states);
  const std::int64_t rows = std::clamp<std::int64_t>(chunk_elements / width, 1, total);
  for (std::int64_t first = 0; first < total; first += rows) {
    const State state = enumerated_states(machine, plan, at::arange(first, std::min(first + rows, total), at::kLong));
    visit(state, machine.log_sum_out(state, plan.summed));
    if (progress) progress(std::min(first + rows, total), total);
  }
}

}  // namespace harmonium
