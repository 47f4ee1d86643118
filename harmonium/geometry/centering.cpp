#include "harmonium/geometry/centering.h"

#include <map>

namespace harmonium {

Centering::Centering(Topology topology, const Moments& shape, CenteringOptions options)
    : topology_(std::move(topology)), shape_(shape), options_(options) {
  for (const LayerInfo& layer : topology_.layers) offsets_.push_back(at::zeros_like(shape_[layer.parameters.front()]));
}

void Centering::observe(const Observation& observation) {
  for (std::size_t layer = 0; layer < offsets_.size(); ++layer) {
    const at::Tensor& mean = observation.model[topology_.layers[layer].parameters.front()];
    if (fresh_)
      offsets_[layer].copy_(mean);
    else
      offsets_[layer].lerp_(mean, 1 / options_.time_scale);
  }
  fresh_ = false;
}

Direction Centering::solve(const Moments& gradient) const {
  Direction direction;
  for (const LayerInfo& layer : topology_.layers)
    for (const std::string& name : layer.parameters) {
      direction.unary.insert(name, gradient[name]);
      direction.pairwise.insert(name, at::zeros_like(gradient[name]));
    }
  for (const EdgeInfo& edge : topology_.edges) {
    const std::string& lower = topology_.layers[edge.lower].parameters.front();
    const std::string& upper = topology_.layers[edge.upper].parameters.front();
    const at::Tensor &mean_lower = offsets_[edge.lower], &mean_upper = offsets_[edge.upper];
    const at::Tensor weights =
        at::addr(gradient[edge.weights], gradient[lower], mean_upper, 1, -1).addr_(mean_lower, gradient[upper], 1, -1);
    direction.pairwise[lower].sub_(weights.mv(mean_upper));
    direction.pairwise[upper].sub_(weights.t().mv(mean_lower));
    direction.pairwise.insert(edge.weights, weights);
  }
  return direction;
}

at::Tensor Centering::to_dense() const {
  // Statistics = T × independent unit noise: T is the identity plus, in the row of each product, the two regressions.
  const std::int64_t dimension = shape_.dimension();
  std::map<std::string, std::int64_t> offset;
  std::int64_t position = 0;
  for (const auto& [name, value] : shape_.entries()) {
    offset[name] = position;
    position += value.numel();
  }
  at::Tensor noise_to_statistics = at::eye(dimension, at::kDouble);
  for (const EdgeInfo& edge : topology_.edges) {
    const at::Tensor &mean_lower = offsets_[edge.lower], &mean_upper = offsets_[edge.upper];
    const std::int64_t lower = offset[topology_.layers[edge.lower].parameters.front()];
    const std::int64_t upper = offset[topology_.layers[edge.upper].parameters.front()];
    for (std::int64_t i = 0; i < mean_lower.size(0); ++i)
      for (std::int64_t j = 0; j < mean_upper.size(0); ++j) {
        const std::int64_t row = offset[edge.weights] + i * mean_upper.size(0) + j;
        noise_to_statistics[row][lower + i] = mean_upper[j];
        noise_to_statistics[row][upper + j] = mean_lower[i];
      }
  }
  return noise_to_statistics.mm(noise_to_statistics.t());
}

NamedTensors Centering::state() const {
  NamedTensors tensors;
  if (fresh_) return tensors;
  for (std::size_t layer = 0; layer < offsets_.size(); ++layer)
    tensors.emplace_back(format("offset.{}", layer), offsets_[layer]);
  return tensors;
}

void Centering::restore(const NamedTensors& tensors) {
  fresh_ = tensors.empty();
  if (fresh_) return;
  for (std::size_t layer = 0; layer < offsets_.size(); ++layer)
    offsets_[layer].copy_(find_tensor(tensors, format("offset.{}", layer), "centering"));
}

}  // namespace harmonium
