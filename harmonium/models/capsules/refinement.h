// Descriptions of pictures made better by descent, when a picture is looked at: analysis by synthesis.
//
// Each composite's proposal p for a picture x is moved to lower
//
//   e_i(p) = ‖x̂ − x‖² / 2σ² + ½ ‖L⁻¹(p − m)‖²
//
// with N(m, L Lᵀ) the Gaussian of the composite's poses (pose_prior.h) and σ² the mean squared error of a pixel in
// training. Adam moves z = L⁻¹(p − m); the best p that is met is kept, so no e_i grows. A composite's evidence is
// log y_i − e_i, the log of its share and what it explains; the picture is described by the composite of the largest.
// All composites are compared as they are proposed, and the best few of them moved. Cost of a row: C drawings, and
// candidates · steps drawings with gradients. Rows do not depend on each other.
#pragma once

#include "harmonium/models/capsules/pose_prior.h"

namespace harmonium {

struct RefinementOptions {
  std::int64_t steps = 30, candidates = 3;
  double rate = 0.1;  // of Adam, in standard deviations of a pose
};

// `preferences` are the evidence, rows × C; `shares` are 1 for the largest; `proposals` are the moved ones.
// Without gradients.
[[nodiscard]] Scene refined(const CapsuleAutoencoder& model, const PosePrior& prior, const at::Tensor& images,
                            const RefinementOptions& options = {});

}  // namespace harmonium
