// Directed nets with latent variables and learned inference: p(x, h) = p(h_L) Π_l p(h_{l−1} | h_l) with h_0 = x, and
// q(h | x) = Π_l q(h_l | h_{l−1}). What objectives and likelihood estimates need to know of one.
//
// Every function takes the parameters, so that leaves with gradients, averages and files are one thing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

// Latents of some rows, K of each, with the logarithms of their probabilities.
struct Trace {
  std::vector<at::Tensor> latents;  // h_1, …, h_L: rows × K × width
  // rows × K, float64: log_p[l] = log p(h_l | h_{l+1}), the last log p(h_L); log_q[l] = log q(h_{l+1} | h_l). Where the
  // prior is not normalized the last of log_p is log f(h_L), which is too large by log Z.
  std::vector<at::Tensor> log_p, log_q;
  // log w = log p(x, h) − log q(h | x), rows × K, float64.
  [[nodiscard]] at::Tensor log_weights() const;
};

// Rows that the model has made itself, with what made them: (x, h) ~ p, so that h is a draw of p(h | x).
struct Dream {
  // count × width: draws, and the means that each column was drawn by: E[x | h_1], unless columns wait for each other.
  at::Tensor visible, means;
  std::vector<at::Tensor> latents;  // h_1, …, h_L: count × width
};

// How binary draws are made differentiable, with a bias (SigmoidBeliefNet::relax).
struct Relaxation {
  bool straight_through = false;  // draws of bits whose derivative is that of their means; else Concrete
  double prior_temperature = 0.5, posterior_temperature = 2.0 / 3;  // Concrete: of p and of q
};

// The names of an affine map's parameters.
struct AffineLayer {
  std::string weights, bias;
};

// A net whose latents are all real, as a function of noise: z_l = μ_l + σ_l ε_l with μ_l, σ_l of p(z_l | z_{l+1}), and
// all ε_l side by side, from the data up, in one vector ε ~ N(0, I). Whoever walks over latents walks over ε, where the
// prior is the same whatever the net. (The latents of a net may be its ε themselves.)
class Decoder {
 public:
  virtual ~Decoder() = default;
  [[nodiscard]] virtual std::int64_t noise_width() const = 0;
  // z_1, …, z_L of noise (… × noise_width) and back. Differentiable.
  [[nodiscard]] virtual std::vector<at::Tensor> latents(const Moments& parameters, const at::Tensor& noise) const = 0;
  [[nodiscard]] virtual at::Tensor noise(const Moments& parameters, const std::vector<at::Tensor>& latents) const = 0;
  // E[x | z] of latents that are … × width each: … × visible.
  [[nodiscard]] virtual at::Tensor means(const Moments& parameters, const std::vector<at::Tensor>& latents) const = 0;
  // log p(x | z) of latents that are rows × K × width: rows × K, float64. Differentiable.
  [[nodiscard]] virtual at::Tensor log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                                  const std::vector<at::Tensor>& latents) const = 0;
};

class LatentModel {
 public:
  virtual ~LatentModel() = default;
  // K = `draws` draws of q(h | x) for every row, numbered from `first_draw`: draw k of row i depends on (key, k, i)
  // alone, so that draws may be made in pieces. Differentiable in the parameters where q has a path.
  [[nodiscard]] virtual Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                                    const Key& key, std::int64_t first_draw = 0) const = 0;
  // The same for given latents, rows × K × width each.
  [[nodiscard]] virtual Trace score(const Moments& parameters, const at::Tensor& rows,
                                    const std::vector<at::Tensor>& latents) const = 0;
  // The same as infer() with draws that have a path though the net's own have none. Fails where there is nothing to
  // relax.
  [[nodiscard]] virtual Trace relax(const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                                    const Key& key, const Relaxation& relaxation) const;
  [[nodiscard]] virtual Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const = 0;
  // Null where latents are discrete. It refers to this model.
  [[nodiscard]] virtual const Decoder* decoder() const { return nullptr; }
  // The same below given draws of h_L, rows × width. Fails where there is no prior to be drawn from elsewhere.
  [[nodiscard]] virtual Dream dream_below(const Moments& parameters, const at::Tensor& top, const Key& key) const;
  // Whether dreams have the law of the model; else they end chains and come close to it.
  [[nodiscard]] virtual bool dreams_exactly() const { return true; }
};

}  // namespace harmonium
