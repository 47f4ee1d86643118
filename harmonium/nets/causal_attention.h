// Attention of every pixel to itself and those before it, in raster order, as a gated residual block:
//
//   y_p = x_p + a_p ∘ σ(g_p),   [a_p, g_p] = W drop(Σ_{k ≤ p} w_pk v_k) + b,   w_p = softmax_{k ≤ p}(q_p · k_k / √d)
//
// Queries q and keys k (d numbers) and values v are affine in f(x_p), with f the exponential linear unit. A pixel looks
// at its own place too: so where x_p depends only on pixels of the picture strictly before p, the same is true of y_p.
// All pixels together cost P² (d + numbers of a value) multiplications for P pixels, and rows × P² numbers of memory.
// Reference: Chen, Mishra, Rohaninejad & Abbeel 2018 (PixelSNAIL).
#pragma once

#include "harmonium/nets/causal_convolution.h"

namespace harmonium {

class CausalAttention {
 public:
  // A quarter of the channels for keys, half of them for values. Parameters are NAME.input and NAME.output, each with
  // weights and bias.
  CausalAttention(const std::string& name, std::int64_t channels);

  void declare(Moments& parameters, at::ScalarType type) const;
  void initialize(Moments& parameters, const Key& key) const;
  [[nodiscard]] double weights() const;
  // Multiplications for each of so many pixels beside those by weights.
  [[nodiscard]] double products(double pixels) const;
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& x, PicturePass& pass) const;

 private:
  std::string name_;
  std::int64_t keys_, values_;
  CausalConvolution input_, output_;  // of single pixels: queries, keys and values side by side
};

}  // namespace harmonium
