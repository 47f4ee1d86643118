#include "harmonium/likelihood/log_marginal.h"

#include <algorithm>
#include <limits>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

namespace {

constexpr std::int64_t rows_at_once = 4096;
constexpr std::int64_t pairs_at_once = 1 << 19;  // of a row and a state: what is made of them stays in cache

template <class Visit>
void for_blocks_of_rows(const State& data, Visit visit) {
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    State rows = data;
    for (at::Tensor& layer : rows.layers)
      if (layer.defined()) layer = layer.narrow(0, first, std::min(rows_at_once, data.rows() - first));
    visit(rows);
  }
}

bool among(const LayerSet& set, std::size_t layer) { return std::ranges::find(set, layer) != set.end(); }

// Which hidden layers to visit, the others being summed out: of the blocks, the one that leaves fewest states. Nothing
// where there is no way.
EnumerationPlan plan_marginal(const BoltzmannMachine& machine) {
  EnumerationPlan best;
  for (const LayerSet& block : machine.blocks()) {
    EnumerationPlan plan{.enumerated = {}, .summed = {}, .states = 1};
    bool finite = true;
    for (const std::size_t layer : machine.hidden()) {
      if (among(block, layer) && machine.inner_edge(layer) == nullptr) {
        plan.summed.push_back(layer);
        continue;
      }
      plan.enumerated.push_back(layer);
      const auto count = machine.unit(layer).state_count();
      finite = finite && count.has_value();
      plan.states *= count.value_or(1);
    }
    if (finite && (best.states == 0 || plan.states < best.states)) best = std::move(plan);
  }
  return best;
}

double work_of(const BoltzmannMachine& machine, const EnumerationPlan& plan, std::int64_t rows) {
  std::int64_t width = 1;
  for (const std::size_t layer : plan.summed) width += machine.unit(layer).width();
  return static_cast<double>(rows) * plan.states * static_cast<double>(width);
}

// −E of the given layers and of the edges among them.
at::Tensor potential_among(const BoltzmannMachine& machine, const State& state, const LayerSet& layers) {
  at::Tensor total = at::zeros({state.rows()}, at::kDouble);
  for (const std::size_t layer : layers)
    total += machine.unit(layer).log_factor(state.layers[layer], machine.layer_parameters(layer));
  for (const EdgeInfo& edge : machine.topology().edges)
    if (among(layers, edge.lower) && among(layers, edge.upper))
      total += (state.layers[edge.lower].mm(machine.parameters()[edge.weights]) * state.layers[edge.upper]).sum(1);
  return total;
}

// What the layers that `state` has add to the field of another, bias apart.
at::Tensor input_from(const BoltzmannMachine& machine, const State& state, std::size_t layer) {
  at::Tensor total;
  for (const EdgeInfo& edge : machine.topology().edges) {
    const bool upper = edge.upper == layer;
    if (!upper && edge.lower != layer) continue;
    const at::Tensor& other = state.layers[upper ? edge.lower : edge.upper];
    if (!other.defined()) continue;
    const at::Tensor& weights = machine.parameters()[edge.weights];
    const at::Tensor product = other.mm(upper ? weights : weights.t());
    total = total.defined() ? total + product : product;
  }
  return total;
}

// The field of a layer that gets nothing from elsewhere is its bias, in one row.
at::Tensor with_bias(const at::Tensor& input, const Unit::Parameters& theta) {
  return input.defined() ? input + theta[0] : theta[0].unsqueeze(0);
}

// log Σ of e^{−E} over the plan's states for each row: rows and states in pairs, of which only the log-partition of the
// summed layers is more than a sum of a row's part and a state's.
at::Tensor by_visiting(const BoltzmannMachine& machine, const EnumerationPlan& plan, const State& rows) {
  const LayerSet observed = machine.observed();
  const at::Tensor own = potential_among(machine, rows, observed);
  Fields inputs(machine.layers().size());  // of data to hidden layers
  for (const std::size_t layer : machine.hidden()) inputs[layer] = input_from(machine, rows, layer);
  at::Tensor result = at::full({rows.rows()}, -std::numeric_limits<double>::infinity(), at::kDouble);
  const auto states = static_cast<std::int64_t>(plan.states);
  const std::int64_t at_once = std::clamp<std::int64_t>(pairs_at_once / rows.rows(), 1, states);
  for (std::int64_t first = 0; first < states; first += at_once) {
    const State visited =
        enumerated_states(machine, plan, at::arange(first, std::min(first + at_once, states), at::kLong));
    at::Tensor each = potential_among(machine, visited, plan.enumerated).unsqueeze(0);  // 1 × states
    for (const std::size_t layer : plan.enumerated)
      if (inputs[layer].defined()) each = each + inputs[layer].mm(visited.layers[layer].t());
    for (const std::size_t layer : plan.summed) {
      const Unit& unit = machine.unit(layer);
      const Unit::Parameters theta = machine.layer_parameters(layer);
      const at::Tensor from_rows = with_bias(inputs[layer], theta), from_states = input_from(machine, visited, layer);
      // A layer that sees no visited state has one log-partition for all of them, and one that sees no data for all
      // rows.
      if (!from_states.defined())
        each = each + unit.log_partition(from_rows, theta).unsqueeze(1);
      else if (!inputs[layer].defined())
        each = each + unit.log_partition(from_states + theta[0], theta).unsqueeze(0);
      else
        each = each + unit.pair_log_partitions(from_rows, from_states, theta);
    }
    result = at::logaddexp(result, at::logsumexp(each.expand({rows.rows(), visited.rows()}), 1));
  }
  return result + own;
}

}  // namespace

LogMarginal log_marginal(const BoltzmannMachine& machine, const State& data, const MarginalOptions& options) {
  LogMarginal result;
  std::vector<at::Tensor> parts;
  if (!machine.hidden_joined()) {
    for_blocks_of_rows(data, [&](const State& rows) { parts.push_back(machine.log_sum_out(rows, machine.hidden())); });
    result.log_f = at::cat(parts);
    return result;
  }
  if (const EnumerationPlan plan = plan_marginal(machine);
      plan.states > 0 && work_of(machine, plan, data.rows()) <= options.most_work) {
    const BoltzmannMachine precise = machine.precise_on_cpu();
    for_blocks_of_rows(data, [&](State rows) {
      for (at::Tensor& layer : rows.layers)
        if (layer.defined()) layer = on_cpu(layer).to(at::kDouble);
      parts.push_back(by_visiting(precise, plan, rows));
    });
    result.log_f = at::cat(parts);
    result.method = plan.describe(machine);
    return result;
  }
  if (options.annealing) {
    const AnnealedRows found = anneal_rows(machine, data, options.key, *options.annealing, true);
    result.log_f = found.log_f;
    result.at_most = found.at_most;
    result.exact = false;
    result.method = "annealing with data held";
    return result;
  }
  for_blocks_of_rows(data, [&](const State& rows) {
    const Posterior q = infer(machine, rows, options.mean_field);
    parts.push_back(variational_bound(machine, q));
    result.sweeps = std::max(result.sweeps, q.sweeps);
    result.change = std::max(result.change, q.change);
    result.converged = result.converged && q.converged(options.mean_field);
  });
  result.log_f = at::cat(parts);
  result.exact = false;
  result.method = "mean field";
  return result;
}

at::Tensor log_unnormalized(const BoltzmannMachine& machine, const State& data) {
  return log_marginal(machine, data).log_f;
}

}  // namespace harmonium
