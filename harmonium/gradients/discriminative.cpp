#include "harmonium/gradients/discriminative.h"

#include "harmonium/models/classification.h"

namespace harmonium {

namespace {

// Σ over classes: weights rows × classes, statistics (rows · classes) × width → rows × width.
at::Tensor over_classes(const at::Tensor& weights, const at::Tensor& statistics) {
  return weights.unsqueeze(1).bmm(statistics.reshape({weights.size(0), weights.size(1), -1})).squeeze(1);
}

// Σ over rows, class by class → classes × width.
at::Tensor over_rows(const at::Tensor& weights, const at::Tensor& statistics) {
  const at::Tensor by_class = statistics.reshape({weights.size(0), weights.size(1), -1}).transpose(0, 1);
  return weights.t().unsqueeze(1).bmm(by_class).squeeze(1);
}

}  // namespace

Moments class_moments(const BoltzmannMachine& machine, const State& data, double share) {
  const std::size_t label = label_layer(machine);
  const std::int64_t rows = data.rows();
  const double each = 1.0 / static_cast<double>(rows);
  const at::Tensor& y = data.layers[label];
  Moments total = machine.parameters().zeros_like();
  // The observed layers are the same in every class, and Σ_c w(c) = 1 − share.
  for (const std::size_t layer : machine.observed()) {
    const std::vector<at::Tensor> unary = machine.unit(layer).moments(data.layers[layer], {});
    const auto& names = machine.topology().layers[layer].parameters;
    for (std::size_t i = 0; layer != label && i < unary.size(); ++i) total[names[i]].add_(unary[i], 1 - share);
  }
  Fields means(machine.layers().size());  // Σ_c w(c) E[h | v, c] of every row
  for (const std::size_t layer : machine.hidden())
    means[layer] = at::empty({rows, machine.unit(layer).width()}, machine.options());

  for_each_class(machine, data, [&](const ClassesOfRows& piece) {
    const at::Tensor own = y.narrow(0, piece.first, piece.rows);
    const at::Tensor weights = piece.log_probability.exp().to(machine.scalar_type()).sub_(own, share);
    total[machine.topology().layers[label].parameters.front()].add_(weights.sum(0), each);
    for (const std::size_t layer : machine.hidden()) {
      const auto& names = machine.topology().layers[layer].parameters;
      const std::vector<at::Tensor> statistics =
          machine.unit(layer).expected_statistics(piece.fields[layer], machine.layer_parameters(layer));
      for (std::size_t i = 0; i < statistics.size(); ++i) {
        const at::Tensor summed = over_classes(weights, statistics[i]);
        if (i == 0) means[layer].narrow(0, piece.first, piece.rows).copy_(summed);
        total[names[i]].add_(summed.sum(0), each);
      }
      for (const EdgeInfo& edge : machine.topology().edges) {
        if (edge.lower == label && edge.upper == layer)
          total[edge.weights].add_(over_rows(weights, statistics[0]), each);
        if (edge.upper == label && edge.lower == layer)
          total[edge.weights].add_(over_rows(weights, statistics[0]).t(), each);
      }
    }
  });
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower == label || edge.upper == label) continue;
    const auto side = [&](std::size_t layer) { return means[layer].defined() ? means[layer] : data.layers[layer]; };
    total[edge.weights].addmm_(side(edge.lower).t(), side(edge.upper), 1, each);
  }
  return total;
}

Moments Discriminative::model_moments(const BoltzmannMachine& machine, const State& data, const Key&) {
  return class_moments(machine, data);
}

}  // namespace harmonium
