// Pictures by posing: descriptions changed by hand and drawn again. All without gradients, on the model's device.
//
// Numbers of a composite's pose have names: "intensity", "t0", "t1" (to the right, downward), "s0", "s1", "shear",
// "rotation", "distortion:0", "distortion:1", ….
#pragma once

#include <string>
#include <vector>

#include "harmonium/models/capsules/pose_prior.h"

namespace harmonium {

[[nodiscard]] std::vector<std::string> names_of_pose(const CapsuleAutoencoder& model);

// One composite with distortions 0 and all else at its mean, one number of its pose moved: a distortion from −2 to 2
// standard deviations, anything else as far from its mean.
[[nodiscard]] Scene swept(const CapsuleAutoencoder& model, const PosePrior& prior, std::int64_t composite,
                          std::int64_t number, std::int64_t steps);

// `count` descriptions p + spread · L z near that of one picture (1 × P), z standard normal, L Lᵀ the covariance of the
// poses of its composite. Row r depends on (key, r) alone.
[[nodiscard]] Scene scenes_around(const CapsuleAutoencoder& model, const PosePrior& prior, const at::Tensor& image,
                                  double spread, const Key& key, std::int64_t count);

// Pictures read as one composite, whatever the manager says.
[[nodiscard]] Scene described_as(const CapsuleAutoencoder& model, const at::Tensor& images, std::int64_t composite);

// x̂ of a scene shared out among its parts, B × K × P, each pixel by r_k/Σ r (kernels/render_templates.h): where output
// models are functions of Σ a, by the size of a_k.
[[nodiscard]] at::Tensor shared_out(const CapsuleAutoencoder& model, const Scene& scene);

}  // namespace harmonium
