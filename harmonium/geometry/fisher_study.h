// The Fisher laboratory: how well approximations stand for the Fisher information, and what its leading eigenvectors
// are about.
//
// A zero-mean Gaussian with covariance Ĝ is compared with one with covariance G,
//   KL(N(0,G) ‖ N(0,Ĝ)) = ½ [ tr(Ĝ⁻¹G) − log det(Ĝ⁻¹G) − dim ],
// every Ĝ fitted to the same G, damped by the same trace of the identity. Where G is known through draws only, the
// same comparison up to a constant is the mean log-density of fresh draws: ½ [ tr(Ĝ⁻¹S) + log det Ĝ ].
#pragma once

#include <functional>

#include "harmonium/geometry/dense_statistics.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/geometry/particle_statistics.h"

namespace harmonium {

struct FisherStudyOptions {
  double damping = 1e-6;  // added to the diagonal of G and of what is fitted to it
  std::vector<std::int64_t> ranks = {50, 200};
  std::int64_t random_draws = 10;  // of parents, for the control
  std::uint64_t seed = 0;
};

struct Approximation {
  std::string name;  // "fang", "low_rank:50"
  std::int64_t parameters = 0;
  double divergence = 0;     // nats; mean over draws for the control
  double low = 0, high = 0;  // the least and the greatest over draws; equal where there is one
};

// Stage, and how much of it is done; may throw to stop.
using StudyProgress = std::function<void(const std::string& stage, std::int64_t done, std::int64_t total)>;

// Worst first. Cost: dimension solves per approximation, one eigendecomposition and one Cholesky factor of G.
[[nodiscard]] std::vector<Approximation> compare_approximations(const DenseStatistics& statistics,
                                                                const Topology& topology,
                                                                const FisherStudyOptions& options,
                                                                const StudyProgress& progress);
// From draws: fitted to `fit`, judged on `fresh`; divergences are relative to that of the diagonal, with a 95 %
// interval over the fresh draws in low and high.
[[nodiscard]] std::vector<Approximation> compare_approximations(const std::shared_ptr<const ParticleStatistics>& fit,
                                                                const ParticleStatistics& fresh,
                                                                const Topology& topology, const Moments& shape,
                                                                const FisherStudyOptions& options,
                                                                const StudyProgress& progress);

// For a change of moments ds = G dη along each column, the fraction of ‖ds‖² that is a change of covariances between
// layers rather than of means: dE[xyᵀ] = dE[x]E[y]ᵀ + E[x]dE[y]ᵀ + dCov(x, y). A column is an eigenvector, so ds is
// parallel to it.
[[nodiscard]] at::Tensor covariance_fractions(const Topology& topology, const Moments& mean, const at::Tensor& vectors);

}  // namespace harmonium
