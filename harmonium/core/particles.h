// Draws from a model as geometry sees them: the unary statistics of every row, and no model.
//
// Layers of one block may be given by their expectation conditional on the other layers (Rao–Blackwell), which makes
// averages less noisy; what is lost on the way, the conditional covariance, is then given beside.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace harmonium {

struct ParticleLayer {
  at::Tensor unary;       // rows × statistics of the layer: t(x) or E[t(x) | rest]; the first columns are x itself
  at::Tensor square;      // rows × width: x² or E[x² | rest]; undefined for indicators, where x² = x
  at::Tensor covariance;  // statistics × statistics: mean over rows of Cov(t(x) | rest); undefined for drawn layers
};

struct Particles {
  std::vector<ParticleLayer> layers;

  [[nodiscard]] std::int64_t rows() const { return layers.empty() ? 0 : layers.front().unary.size(0); }
};

}  // namespace harmonium
