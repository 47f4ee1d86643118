// The Fisher information G = Cov(g) of a machine by enumeration of one side, in float64.
//
// Given the enumerated layers y, every statistic is linear in those of the summed block, g = A(y) t(x), and the
// enumerated units are 0 or 1. So for each pair of features f, f' out of (1, y_1, y_2, …)
//   E[f t · (f' t)ᵀ] = Σ_{y: f = f' = 1} p(y) (t̄ t̄ᵀ + Cov(t | y)),     t̄ = E[t | y],
// one symmetric product of the rows in which both are on; states × dim(g) is never formed. States are visited in order
// of falling probability and those that hold less than 1e-14 of the mass in total are left out: every entry keeps its
// double precision, and a trained machine needs a small part of its states only.
// Cost: (features² / 2) × (states kept / 4) × (width of the summed block)²; memory dim² and one block of rows.
#pragma once

#include <functional>

#include "harmonium/models/enumeration.h"

namespace harmonium {

inline constexpr int fisher_bits = 20;

struct FisherPlan {
  EnumerationPlan states;
  std::int64_t dimension = 0;
  double bytes = 0;     // of memory at the peak
  double products = 0;  // multiplications if no state can be left out
};

struct ExactFisher {
  Moments mean;           // E[g]
  at::Tensor covariance;  // dimension × dimension, in the order of Moments::flatten()
  std::int64_t states_used = 0;
  double states = 0;
};

// Fails, naming the sizes, when the smaller side has more than 2^max_bits states.
[[nodiscard]] FisherPlan plan_exact_fisher(const BoltzmannMachine& machine, int max_bits = fisher_bits);

// `progress(done, total)` may throw to stop.
[[nodiscard]] ExactFisher exact_fisher(const BoltzmannMachine& machine, int max_bits = fisher_bits,
                                       const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace harmonium
