#include "harmonium/geometry/diagonal.h"

#include "harmonium/core/error.h"

namespace harmonium {

void Diagonal::observe(const Observation& observation) {
  require(observation.statistics != nullptr, "diagonal needs the distribution of the statistics, and none was given");
  const double weight = observation_weight(options_.statistics_every, options_.time_scale);
  mean_.observe(observation.statistics->mean().flatten(), weight);
  mean_square_.observe(observation.statistics->mean_square().flatten(), weight);
}

void Diagonal::refit() {
  const StatisticIndex& index = gaussian_.index();
  // Rounding may take a variance of zero below zero.
  const Moments variance =
      index.shape().unflatten((mean_square_.get() - mean_.get().square()).clamp_min(0).add(options_.damping));
  gaussian_.set_unary(index.gather_unary(variance));
  for (std::size_t edge = 0; edge < index.topology().edges.size(); ++edge) {
    Regression regression;
    regression.variance = variance[index.topology().edges[edge].weights];
    gaussian_.set_regression(edge, std::move(regression));
  }
}

NamedTensors Diagonal::state() const {
  NamedTensors tensors;
  if (mean_.empty()) return tensors;
  tensors = {{"mean", mean_.get()}, {"mean_square", mean_square_.get()}};
  for (auto& [tensor_name, value] : gaussian_.state()) tensors.emplace_back("fit." + tensor_name, value);
  return tensors;
}

void Diagonal::restore(const NamedTensors& tensors) {
  const bool empty = tensors.empty();
  mean_.restore(empty ? at::Tensor() : find_tensor(tensors, "mean", "diagonal"));
  mean_square_.restore(empty ? at::Tensor() : find_tensor(tensors, "mean_square", "diagonal"));
  NamedTensors fitted;
  for (const auto& [tensor_name, value] : tensors)
    if (tensor_name.starts_with("fit.")) fitted.emplace_back(tensor_name.substr(4), value);
  gaussian_.restore(fitted);
}

}  // namespace harmonium
