// What states of a Boltzmann machine weigh, and the moments of their statistics.
#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/binary_product.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

namespace {

at::Tensor beside(const std::vector<at::Tensor>& columns) {
  return columns.size() == 1 ? columns.front() : at::cat(columns, 1);
}

bool contains(const LayerSet& set, std::size_t layer) { return std::ranges::find(set, layer) != set.end(); }

}  // namespace

at::Tensor BoltzmannMachine::edge_potential(const State& state, const LayerSet& among) const {
  at::Tensor total = at::zeros({state.rows()}, options(at::kDouble));
  for (const EdgeInfo& edge : topology().edges)
    if (contains(among, edge.lower) && contains(among, edge.upper))
      total += (state.layers[edge.lower].mm(parameters_[edge.weights]) * state.layers[edge.upper])
                   .sum(1, false, at::kDouble);
  return total;
}

at::Tensor BoltzmannMachine::log_potential(const State& state) const { return log_sum_out(state, {}); }

at::Tensor BoltzmannMachine::log_sum_out(const State& state, const LayerSet& summed) const {
  at::Tensor total;
  const auto add = [&](const at::Tensor& term) { total = total.defined() ? total + term : term; };
  for (std::size_t layer = 0; layer < layers().size(); ++layer) {
    const Unit::Parameters values = layer_parameters(layer);
    add(contains(summed, layer) ? unit(layer).log_partition(field(layer, state), values)
                                : unit(layer).log_factor(state.layers[layer], values));
  }
  for (const EdgeInfo& edge : topology().edges) {
    const bool lower = contains(summed, edge.lower), upper = contains(summed, edge.upper);
    require(!(lower && upper), "units joined by an edge ({}) cannot be summed out together", edge.weights);
    if (!lower && !upper)
      add((state.layers[edge.lower].mm(parameters_[edge.weights]) * state.layers[edge.upper])
              .sum(1, false, at::kDouble));
  }
  return total;
}

std::vector<CodedTable> BoltzmannMachine::unary_moments(
    const CodedState& state, Fields& fields, const at::Tensor& weights,
    const std::function<void(const std::string&, const at::Tensor&)>& take) const {
  const auto expected = [&](std::size_t layer) { return layer < fields.size() && fields[layer].defined(); };
  for (const EdgeInfo& edge : topology().edges)
    require(!(expected(edge.lower) && expected(edge.upper)), "units joined by {} are not independent given the rest",
            edge.weights);
  std::vector<CodedTable> values(layers().size());
  for (std::size_t layer = 0; layer < layers().size(); ++layer) {
    const std::vector<std::string>& names = topology().layers[layer].parameters;
    const Unit::Parameters theta = layer_parameters(layer);
    values[layer] = expected(layer) ? CodedTable(unit(layer).mean(fields[layer], theta)) : state.layers[layer];
    // A layer with a single statistic needs its mean only, which is at hand.
    if (theta.size() == 1 && !weights.defined()) {
      take(names[0], values[layer].column_means());
    } else {
      const std::vector<at::Tensor> unary = expected(layer)
                                                ? unit(layer).expected_moments(fields[layer], theta, weights)
                                                : unit(layer).moments(values[layer].table(), weights);
      for (std::size_t i = 0; i < unary.size(); ++i) take(names[i], unary[i]);
    }
    if (expected(layer)) fields[layer].reset();
  }
  return values;
}

Moments BoltzmannMachine::moments(const CodedState& state, Fields fields, const at::Tensor& weights) const {
  Moments result;
  const std::vector<CodedTable> values = unary_moments(
      state, fields, weights, [&](const std::string& name, const at::Tensor& value) { result.insert(name, value); });
  for (const EdgeInfo& edge : topology().edges) {
    const CodedTable &lower = values[edge.lower], &upper = values[edge.upper];
    const auto weighted = [&] { return lower.table() * weights.to(lower.table().scalar_type()).unsqueeze(1); };
    result.insert(edge.weights,
                  edge.masked(weights.defined() ? weighted().t().mm(upper.table()) : mean_outer_product(lower, upper)));
  }
  return result;
}

void BoltzmannMachine::add_moments_(Moments& target, double scale, const CodedState& state, Fields fields) const {
  const std::vector<CodedTable> values = unary_moments(
      state, fields, {}, [&](const std::string& name, const at::Tensor& value) { target[name].add_(value, scale); });
  for (const EdgeInfo& edge : topology().edges) {
    const CodedTable &lower = values[edge.lower], &upper = values[edge.upper];
    if (edge.inner())
      target[edge.weights].add_(edge.masked(mean_outer_product(lower, upper)), scale);
    else
      add_mean_outer_product_(target[edge.weights], lower, upper, scale);
  }
}

Particles BoltzmannMachine::particles(const State& state, const LayerSet& expected) const {
  Particles result;
  for (std::size_t layer = 0; layer < layers().size(); ++layer) {
    const Unit& one = unit(layer);
    ParticleLayer rows;
    if (!contains(expected, layer)) {
      rows.unary = beside(one.statistics(state.layers[layer]));
      if (!one.indicator()) rows.square = state.layers[layer].square();
    } else {
      const Unit::Parameters theta = layer_parameters(layer);
      const at::Tensor total = field(layer, state);
      rows.unary = beside(one.expected_statistics(total, theta));
      if (!one.indicator()) rows.square = one.expected_square(total, theta);
      rows.covariance = one.conditional_covariance(total, theta, {});
    }
    result.layers.push_back(std::move(rows));
  }
  return result;
}

}  // namespace harmonium
