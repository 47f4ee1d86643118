// Particle filters: p(x_1 … x_T) of models of sequences whose latent variables cannot be summed out.
//
// K particles carry a past each. At step t every particle draws z_t^k from a proposal q and is weighted by
//
//   w_t^k = p(z_t^k, x_t | past^k) / q(z_t^k | past^k, x_t),
//
//   log p̂ = Σ_t log Σ_k W_{t−1}^k w_t^k,   W_0 = 1/K,   W_t^k ∝ W_{t−1}^k w_t^k with Σ_k W_t^k = 1.
//
// Where the weights have become uneven, 1/Σ_k W_t² < K · threshold, particles are resampled: each new one is a copy of
// one of the old, drawn independently by W_t (multinomial resampling), and W_t := 1/K. Whatever decides when, p̂ is an
// unbiased estimate of p(x) (Del Moral, Doucet & Jasra 2012), so log p̂ is low in expectation. A threshold of 0 never
// resamples: that is importance sampling of whole sequences with K draws. Sequences decide for themselves.
//
// With one particle held (conditional sequential Monte Carlo, Andrieu, Doucet & Holenstein 2010) particle 0 is given:
// the latents that made the sequence, an exact draw of p(z | x), which resampling keeps; the others are as before. If Ψ
// is the law of all that an ordinary filter draws, that of this one, with a place for the held path drawn at random at
// every step, is Ψ p̂/p(x). So on sequences of the model's own
//
//   E log p̂ − log p(x) = KL(Ψ p̂/p ‖ Ψ) ≥ 0   and   E 1/p̂ = 1/p(x),
//
// and log p(x) is caught between a filter and a conditional one, as by importance sampling (importance_bound.h).
//
// Cost: T steps of K particles for each sequence.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "harmonium/core/key.h"

namespace harmonium {

// Particles of some sequences, which stand longest first: alive[t] of them, the first of all, have a frame at step t.
// Row s·K + k of what it keeps is particle k of sequence s.
class ParticleWalk {
 public:
  virtual ~ParticleWalk() = default;
  // Draws z_t of every particle of the first alive[t] sequences and goes on by a step: log w_t, rows, float64.
  [[nodiscard]] virtual at::Tensor step(std::int64_t t, const Key& key) = 0;
  // Rows become copies of these (int64, one for each row of the last step).
  virtual void resample(const at::Tensor& ancestors) = 0;
};

struct ParticleFilterOptions {
  std::int64_t particles = 100;
  double threshold = 0.5;  // share of the particles; 0: never, 1 or more: whenever weights differ
  bool held = false;       // particle 0 is the walk's own: never replaced
};

struct FilteredSequences {
  at::Tensor increments;       // float64, of every frame, step after step: log Σ_k W_{t−1}^k w_t^k
  at::Tensor log_p;            // float64, of every sequence: their sum, log p̂
  std::int64_t resampled = 0;  // how often, over all sequences and steps
  double least_effective = 0;  // the least 1/Σ_k W² that was met
};
[[nodiscard]] FilteredSequences particle_filter(ParticleWalk& walk, const std::vector<std::int64_t>& alive,
                                                const ParticleFilterOptions& options, const Key& key);

}  // namespace harmonium
