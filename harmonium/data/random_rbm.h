// Data from a teacher: a random binary RBM small enough to be sampled without a Markov chain, so that a student's
// likelihood can be compared with the truth.
//
//   p(v, h) = exp(a·v + b·h + vᵀW h) / Z,   W_ij ~ N(0, weight_deviation²)
//   a_i = −½ Σ_j W_ij + N(0, bias_deviation²),   b_j = −½ Σ_i W_ij + N(0, bias_deviation²)
//
// The −½ sums make it the ±1 machine with couplings W/4 and weak random fields: without them most units would be stuck
// at 0 or 1. With at most 12 hidden units p(h) ∝ exp(b·h) Π_i (1 + exp(a_i + Σ_j W_ij h_j)) is a table of at most 4096
// numbers: h is drawn from it exactly, then v given h. All in float64.
#pragma once

#include <ATen/ATen.h>

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct RandomRbmOptions {
  std::int64_t visible = 16;  // 1 … 4096
  std::int64_t hidden = 8;    // 1 … 12
  double weight_deviation = 1.5;
  double bias_deviation = 0.5;
};

class RandomRbm {
 public:
  // The teacher that `key` names.
  explicit RandomRbm(const Key& key, const RandomRbmOptions& options = {});

  // Independent exact draws of v; row r depends on the key and r alone.
  [[nodiscard]] Dataset sample(std::int64_t rows, const Key& key) const;
  // ln p(v) of each row of `values` (rows × visible, bits of any type); float64, exact.
  [[nodiscard]] at::Tensor log_probability(const at::Tensor& values) const;
  // ln Z, exact.
  [[nodiscard]] double log_partition() const { return log_partition_; }
  // Entropy of p(v) in nats by enumeration of all v; at most 20 visible units.
  [[nodiscard]] double entropy() const;

  [[nodiscard]] const at::Tensor& weights() const { return weights_; }            // visible × hidden
  [[nodiscard]] const at::Tensor& visible_bias() const { return visible_bias_; }  // visible
  [[nodiscard]] const at::Tensor& hidden_bias() const { return hidden_bias_; }    // hidden

 private:
  at::Tensor weights_, visible_bias_, hidden_bias_;
  at::Tensor hidden_states_;      // 2^hidden × hidden
  at::Tensor hidden_cumulative_;  // 2^hidden: p(state ≤ k)
  double log_partition_ = 0;
};

}  // namespace harmonium
