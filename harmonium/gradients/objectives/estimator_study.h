// The laboratory of gradient estimators: how far the mean of each is from the gradient it is meant for, how noisy it
// is, and what it costs.
//
// Nets with few binary latents are enumerated in float64. Targets are exact for every number of draws K
// (bound_quadrature.h). Of estimates with K draws all K-tuples of states are summed where there are at most 2^20;
// beyond, tuples are drawn from the enumerated states. Running means, variances and optimal baselines are those that
// they converge to on these rows; the baseline `net` is the best there is, E[f_l | h_{l−1}].
//
// Other nets are measured by repeated draws. Then the target is a long average of the estimate with the least noise,
// and has a standard error, too; running means are those after some batches of the same rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harmonium/gradients/objectives/enumerated_latents.h"
#include "harmonium/gradients/objectives/gradient_moments.h"

namespace harmonium {

struct EstimatorStudyOptions {
  std::vector<std::int64_t> draws = {2, 5, 10};  // K, of those that have more than one draw
  std::int64_t most_bits = 8;                    // enumerated; 0: none
  std::int64_t tuples = 20'000;                  // drawn from enumerated states, for each row
  std::int64_t repetitions = 400;                // of estimates for all rows, where states are not enumerated
  std::uint64_t seed = 0;
};

struct EstimatorFinding {
  std::string name;  // "vimco:5"; "elbo:1, baseline mean"
  std::int64_t draws = 1;
  EstimatorPart generation, recognition;
  // ‖g − ∇_θ log p(x)‖/‖∇_θ log p(x)‖ with g the target, which the mean is for θ; with relaxed draws g is the mean as
  // measured. −1: not known.
  double off_log_p = -1;
  double passes = 0;  // through both nets, for one row
};

struct EstimatorStudy {
  bool enumerated = false;
  std::int64_t states = 0, rows = 0;
  std::vector<EstimatorFinding> findings;
};

// What is being measured, and how much of all is done; may throw to stop.
using EstimatorProgress = std::function<void(const std::string& stage, std::int64_t done, std::int64_t total)>;

// Estimators that make sense for the net, on these rows (float64).
[[nodiscard]] EstimatorStudy study_estimators(const StudiedNet& net, const at::Tensor& rows,
                                              const EstimatorStudyOptions& options, const EstimatorProgress& progress);

// The two ways, for tests.
[[nodiscard]] EstimatorStudy study_by_enumeration(const StudiedNet& net, const at::Tensor& rows,
                                                  const EstimatorStudyOptions& options,
                                                  const EstimatorProgress& progress);
[[nodiscard]] EstimatorStudy study_by_draws(const StudiedNet& net, const at::Tensor& rows,
                                            const EstimatorStudyOptions& options, const EstimatorProgress& progress);

}  // namespace harmonium
