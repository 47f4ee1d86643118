// The Fisher information G = Cov(g) of a machine by enumeration of one side, in float64.
//
// Given the enumerated layers y, every statistic is linear in those of the summed block, g = A(y) t(x), and the
// enumerated units are 0 or 1. So all that is needed is, for each pair of features f, f' out of (1, y_1, y_2, …),
//   E[f f' t tᵀ] = Σ_{y: f = f' = 1} p(y) (t̄ t̄ᵀ + Cov(t | y)),     t̄ = E[t | y].
// The digits of y fall into four groups. For a pair of groups, S(o) = Σ p (t̄ t̄ᵀ + …) is summed over all y that agree on
// the outer pattern o of these two groups, by one symmetric product, and the sums for all pairs of features from these
// groups are a small matrix of zeros and ones times S. Six such passes see every pair; 2^20 × dim(g) is never formed.
// Cost: 6 × states × width² multiplications (width of the summed block); memory 1.5 dim² and some patterns at a time.
#pragma once

#include <functional>

#include "harmonium/models/enumeration.h"

namespace harmonium {

inline constexpr int fisher_bits = 20;

struct FisherPlan {
  EnumerationPlan states;
  std::int64_t dimension = 0;
  double bytes = 0;     // of memory at the peak
  double products = 0;  // multiplications
};

struct ExactFisher {
  Moments mean;           // E[g]
  at::Tensor covariance;  // dimension × dimension, in the order of Moments::flatten()
};

// Fails, naming the sizes, when the smaller side has more than 2^max_bits states.
[[nodiscard]] FisherPlan plan_exact_fisher(const BoltzmannMachine& machine, int max_bits = fisher_bits);

// `progress(done, total)` may throw to stop.
[[nodiscard]] ExactFisher exact_fisher(const BoltzmannMachine& machine, int max_bits = fisher_bits,
                                       const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace harmonium
