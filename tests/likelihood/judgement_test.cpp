#include "harmonium/likelihood/judgement.h"

#include <gtest/gtest.h>

#include <limits>

#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/bootstrap.h"

namespace harmonium {
namespace {

constexpr double mean_log_f = 815.5;

Estimate log_z_of(double value, const std::string& method, EstimateKind kind, double half_width = 0.05) {
  return {.value = value,
          .low = value - half_width,
          .high = value + half_width,
          .kind = kind,
          .method = method,
          .chains = 100,
          .betas = 1000};
}

Evaluation by_ais(double log_z, double effective_samples) {
  Evaluation result;
  result.data = "digits:test";
  result.log_z = log_z_of(log_z, "ais", EstimateKind::unbiased_estimate);
  result.log_z->effective_samples = effective_samples;
  result.log_likelihood = *result.log_z;
  result.log_likelihood->value = mean_log_f - log_z;
  result.log_likelihood->low = mean_log_f - result.log_z->high;
  result.log_likelihood->high = mean_log_f - result.log_z->low;
  result.log_likelihood->kind = EstimateKind::estimate;
  return result;
}

Evaluation sandwich(double lower, double upper, const std::string& method = "raise", double half_width = 0.05) {
  Evaluation result = by_ais(lower, 90);
  result.upper_log_z = log_z_of(upper, method, EstimateKind::upper_bound, half_width);
  result.gap = upper - lower;
  return result;
}

TEST(Judgement, ShowsABracketWhereTheBoundsDiffer) {
  const Judgement found = judgement(sandwich(931.8, 967.3));
  EXPECT_FALSE(found.trusted);
  EXPECT_DOUBLE_EQ(*found.lower, mean_log_f - 967.3);
  EXPECT_DOUBLE_EQ(*found.upper, mean_log_f - 931.8);
  EXPECT_EQ(in_words(found), "between −151.8 and −116.3 nats, not trusted: AIS and RAISE differ by 36 nats");
}

TEST(Judgement, TrustsBoundsThatAgreeAndBoundsThatAgreeWithinTheirNoise) {
  EXPECT_TRUE(judgement(sandwich(900, 900.3)).trusted);
  EXPECT_TRUE(judgement(sandwich(900, 901, "raise", 3)).trusted);
  // What is acceptable is part of the question.
  Evaluation strict = sandwich(900, 900.3);
  strict.acceptable = 0.1;
  EXPECT_FALSE(judgement(strict).trusted);
  // A trusted one lies between the outer ends of both intervals.
  const Judgement found = judgement(sandwich(900, 900.3));
  EXPECT_NEAR(*found.lower, mean_log_f - 900.35, 1e-9);
  EXPECT_NEAR(*found.upper, mean_log_f - 899.95, 1e-9);
}

TEST(Judgement, WidensByWhatAnnealingOfRowsLeavesOpenAndDoubtsALargeRest) {
  Evaluation rows = sandwich(900, 900.3);
  rows.hidden =
      HiddenLayers{.method = "annealing with data held", .exact = false, .chains = 8, .betas = 100, .gap = 0.2};
  Judgement found = judgement(rows);
  EXPECT_TRUE(found.trusted);
  EXPECT_NEAR(*found.lower, mean_log_f - 900.35, 1e-9);
  EXPECT_NEAR(*found.upper, mean_log_f - 899.95 + 0.2, 1e-9);
  rows.hidden->gap = 3;
  found = judgement(rows);
  EXPECT_FALSE(found.trusted);
  EXPECT_EQ(found.reason, "annealing of rows upward and downward differs by 3.0 nats");
}

TEST(Judgement, DistrustsAContradictionAndModesThatTheDataDoNotKnow) {
  const Judgement contradiction = judgement(sandwich(904, 900));
  EXPECT_FALSE(contradiction.trusted);
  EXPECT_LT(*contradiction.lower, *contradiction.upper);
  EXPECT_NE(contradiction.reason.find("contradict"), std::string::npos);

  Evaluation hidden_modes = sandwich(900, 914, "reverse ais from 2000 Gibbs sweeps");
  hidden_modes.raise = *hidden_modes.log_likelihood;  // RAISE agrees with AIS
  const Judgement found = judgement(hidden_modes);
  EXPECT_FALSE(found.trusted);
  EXPECT_EQ(doubt(found), "not trusted: samples of the model say that log Z is higher by up to 14 nats");
  EXPECT_EQ(bracket(found), "between −98.5 and −84.5 nats");
}

TEST(Judgement, OfAisAloneKnowsOneSideWhereItsWeightsAreBad) {
  EXPECT_TRUE(judgement(by_ais(900, 61)).trusted);
  const Judgement found = judgement(by_ais(900, 1.4));
  EXPECT_FALSE(found.trusted);
  EXPECT_FALSE(found.lower.has_value());
  EXPECT_EQ(in_words(found), "at most −84.5 nats, not trusted: from 1.4 effective samples");
  Evaluation heavy = by_ais(900, 61);
  heavy.log_z->pareto_k = 0.9;
  EXPECT_FALSE(judgement(heavy).trusted);
  // log Z alone errs the other way.
  Evaluation no_data = by_ais(900, 1.4);
  no_data.log_likelihood.reset();
  EXPECT_EQ(bracket(judgement(no_data)), "at least 900.0 nats");
}

TEST(Judgement, KeepsBoundsAndExactNumbersWhatTheyAre) {
  Evaluation answer = by_ais(900, 61);
  answer.log_z->kind = answer.log_likelihood->kind = EstimateKind::exact;
  EXPECT_TRUE(judgement(answer).trusted);
  EXPECT_EQ(judgement(answer).lower, judgement(answer).upper);
  answer.log_likelihood->kind = EstimateKind::lower_bound;
  EXPECT_TRUE(judgement(answer).trusted);
  EXPECT_FALSE(judgement(answer).upper.has_value());
  answer.log_likelihood->value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(judgement(answer).trusted);
}

TEST(Judgement, OfAMeanFieldBoundKnowsOnlyTheSideBelow) {
  Evaluation answer = sandwich(900, 905, "reverse ais from 2000 Gibbs sweeps");
  answer.log_likelihood->kind = EstimateKind::estimated_lower_bound;
  EXPECT_EQ(bracket(judgement(answer)), "at least −89.5 nats");
}

// How often 95 % intervals of lognormal weights hold the logarithm of their true mean, among sets on either side of the
// limit: weights of a deviation like that of a good annealing, and like that of one with too few steps.
double coverage(double deviation, bool enough_samples) {
  constexpr int sets = 300, chains = 100;
  int held = 0, counted = 0;
  for (int i = 0; i < sets; ++i) {
    const Key key = Key(17).fold_in(static_cast<std::uint64_t>(i));
    const at::Tensor log_weights = deviation * normal(key.fold_in(0), {chains}, at::kDouble);
    if ((effective_sample_size(log_weights) >= fewest_effective_samples) != enough_samples) continue;
    const Interval interval = bootstrap_log_mean_exp(log_weights, key.fold_in(1));
    const double truth = deviation * deviation / 2;
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
    ++counted;
  }
  EXPECT_GE(counted, 200);
  return static_cast<double>(held) / counted;
}

// With a true coverage of 95 %, fewer than 85 % of 200 sets hold it with a probability below 1e-7; with one of 92 % (a
// bootstrap of skewed weights is a little narrow) below 1e-3.
TEST(Interval, HoldsTheTruthWhereThereAreEnoughEffectiveSamplesAndNotElsewhere) {
  EXPECT_GE(coverage(0.7, true), 0.85);
  EXPECT_LT(coverage(3, false), 0.85);
}

TEST(Interval, FromFewEffectiveSamplesIsNone) {
  Estimate few = *by_ais(900, 19.9).log_z, enough = *by_ais(900, 20).log_z;
  EXPECT_FALSE(has_interval(few));
  EXPECT_EQ(interval_remark(few), "from 19.9 effective samples: no interval");
  EXPECT_TRUE(has_interval(enough));
  EXPECT_EQ(interval_remark(enough), "");
  few.kind = EstimateKind::upper_bound;  // an average over chains, not a mean of weights
  EXPECT_TRUE(has_interval(few));
}

}  // namespace
}  // namespace harmonium
