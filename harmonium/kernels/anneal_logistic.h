// The fused loops of an annealing step of binary units, whose fields are bias + scale·input and never stored.
//
// Element (i, j) of a result uses uniform i·columns + j of the key's stream, as sample_logistic() of the field would.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

// A table of fields that is not added up: bias_j + scale·input_ij.
struct ScaledField {
  const at::Tensor& input;
  const at::Tensor& bias;
  double scale = 1;
};

// 1 with probability σ(field), else 0.
[[nodiscard]] at::Tensor sample_logistic(const Key& key, const ScaledField& field);

// Adds Σ_j log(1 + e^{after_ij}) − log(1 + e^{before_ij}) to log_weights_i (float64), and draws from σ(after).
[[nodiscard]] at::Tensor anneal_logistic(const Key& key, const ScaledField& before, const ScaledField& after,
                                         at::Tensor& log_weights);

}  // namespace harmonium
