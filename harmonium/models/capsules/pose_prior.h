// What poses of known pictures look like: a Gaussian for each composite, fitted after training.
//
//   shares_i = mean of y_i,   N(m_i, S_i) has the mean and covariance of the proposals p_i, each row weighed by its y_i
//
// (models/capsules/capsule_autoencoder.h). Drawing from it and from the composite it belongs to gives new pictures:
// samples by posing. It is no part of what is trained, and gives no density of pictures. Without composites there is
// one Gaussian of the codes of all parts.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/models/capsules/capsule_autoencoder.h"

namespace harmonium {

struct PosePrior {
  at::Tensor shares, means, factors;  // C, C × n, C × n × n (lower triangular, S = L Lᵀ); C = 1 without composites
  at::Tensor pixel_error;             // mean squared error of a pixel of those pictures; undefined: not known
};

// As large as the model's composites want it; all poses at 0.
[[nodiscard]] PosePrior empty_pose_prior(const CapsuleAutoencoder& model);
// Of pictures, without noise. n numbers need more than n rows for a covariance of full rank; what is missing is 1e-6.
[[nodiscard]] PosePrior pose_prior(const CapsuleAutoencoder& model, const at::Tensor& images);
// New descriptions. Row r depends on (key, r) alone.
[[nodiscard]] Scene imagined(const CapsuleAutoencoder& model, const PosePrior& prior, const Key& key,
                             std::int64_t rows);

}  // namespace harmonium
