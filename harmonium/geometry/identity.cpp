#include "harmonium/geometry/identity.h"

namespace harmonium {

Direction Identity::solve(const Moments& gradient) const {
  Direction direction;
  for (const LayerInfo& layer : topology_.layers)
    for (const std::string& name : layer.parameters) {
      direction.unary.insert(name, gradient[name]);
      direction.pairwise.insert(name, at::zeros_like(gradient[name]));
    }
  for (const EdgeInfo& edge : topology_.edges) direction.pairwise.insert(edge.weights, gradient[edge.weights]);
  return direction;
}

at::Tensor Identity::to_dense() const { return at::eye(shape_.dimension(), at::kDouble); }

}  // namespace harmonium
