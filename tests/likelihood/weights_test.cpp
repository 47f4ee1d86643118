#include "harmonium/likelihood/weights.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

// Exceedances of a generalized Pareto distribution by its inverse distribution function: ((1−u)^−k − 1) / k.
at::Tensor pareto(double k, std::int64_t n, std::uint64_t seed) {
  const at::Tensor u = uniform(Key(seed), {n}, at::kDouble);
  return std::get<0>((((1 - u).pow(-k) - 1) / k).sort());
}

// The estimator's standard error is about (1 + k)/√n = 0.03 or less for 5000 draws; 0.15 is five of them.
TEST(ParetoShape, IsFoundAgain) {
  for (const double k : {-0.3, 0.2, 0.5, 0.8, 1.2}) EXPECT_NEAR(pareto_shape(pareto(k, 5'000, 1)), k, 0.15) << k;
}

TEST(ParetoShape, OfNothingIsNoTail) { EXPECT_EQ(pareto_shape(at::zeros({10}, at::kDouble)), 0); }

TEST(Diagnose, KnowsEqualWeightsFromOneGiant) {
  const WeightDiagnostics equal = diagnose(at::full({100}, -300.0, at::kDouble));
  EXPECT_NEAR(equal.effective_samples, 100, 1e-9);
  EXPECT_NEAR(equal.largest_share, 0.01, 1e-12);
  EXPECT_EQ(equal.deviation, 0);
  EXPECT_LT(*equal.pareto_k, 0.5);
  at::Tensor giant = at::zeros({100}, at::kDouble);
  giant[3] = 50;
  EXPECT_NEAR(diagnose(giant).largest_share, 1, 1e-12);
}

TEST(Diagnose, SeesHeavyTailsAndLightOnes) {
  // Log-normal weights: light tails for a small spread of the logarithm, hopeless for a large one.
  const at::Tensor z = normal(Key(2), {2'000}, at::kDouble);
  EXPECT_LT(*diagnose(0.2 * z).pareto_k, 0.4);
  EXPECT_GT(*diagnose(5 * z).pareto_k, 0.7);
  EXPECT_NEAR(diagnose(0.2 * z).deviation, 0.2, 0.02);
}

TEST(Diagnose, HasNoOpinionOnTheTailOfFewWeights) {
  EXPECT_FALSE(diagnose(normal(Key(3), {24}, at::kDouble)).pareto_k.has_value());
  EXPECT_TRUE(diagnose(normal(Key(3), {25}, at::kDouble)).pareto_k.has_value());
}

}  // namespace
}  // namespace harmonium
