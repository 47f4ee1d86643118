// The constant baseline of every single parameter that leaves the least variance to a score function.
//
// Let s_i = ∂log q(h | x)/∂ω_i and f the signal. Of all constants b_i, the variance of (f − b_i) s_i is least for
//
//   b*_i = E[f s_i²] / E[s_i²].
//
// In an affine layer of bits s_ij = h_i (h'_j − p_j), h' the bits above and p their means: both averages are products
// of matrices of squares. They run from batch to batch, and a batch is centred by those before it: what it knows of
// itself would bias it. Cost: two products of a layer's size for each batch (Weaver & Tao 2001; Peters & Schaal 2008).
#pragma once

#include <string>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

class OptimalBaseline {
 public:
  // The recognition layers from the data up.
  explicit OptimalBaseline(std::vector<AffineLayer> layers) : layers_(std::move(layers)), averages_(layers_.size()) {}

  // Σ_i b_i ⟂s_i ω_i of layer `layer`, rows × K, whose derivative is b_i s_i: what is taken off the surrogate.
  // `below` are the values of the layer under it, rows × K or 1 × width.
  [[nodiscard]] at::Tensor term(const Moments& leaves, const at::Tensor& below, const at::Tensor& above,
                                std::size_t layer) const;
  // Takes the signals of a batch (rows × K) into the averages, of which `keep` stays.
  void observe(const Moments& leaves, const at::Tensor& below, const at::Tensor& above, const at::Tensor& signal,
               std::size_t layer, double keep);

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& saved);

 private:
  struct Averages {
    at::Tensor weights_signal, weights, bias_signal, bias;  // E[f s²] and E[s²]; undefined before the first batch
  };
  // h' − p, without a gradient.
  [[nodiscard]] at::Tensor residual(const Moments& leaves, const at::Tensor& below, const at::Tensor& above,
                                    std::size_t layer) const;

  std::vector<AffineLayer> layers_;
  std::vector<Averages> averages_;
};

}  // namespace harmonium
