#include "harmonium/data/random_rbm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

constexpr RandomRbmOptions small = {.visible = 6, .hidden = 3};

// Every visible state, by code.
at::Tensor all_states(std::int64_t width) {
  return at::arange(std::int64_t{1} << width, at::kLong)
      .unsqueeze(1)
      .div(at::pow(2, at::arange(width, at::kLong)), "floor")
      .remainder(2);
}

TEST(RandomRbm, ProbabilitiesAreTheSumOverHiddenStatesOfTheJointDistribution) {
  const RandomRbm rbm(Key(1), small);
  const at::Tensor v = all_states(6).to(at::kDouble), h = all_states(3).to(at::kDouble);
  const at::Tensor joint = at::mm(at::mm(v, rbm.weights()), h.t()) + at::mv(v, rbm.visible_bias()).unsqueeze(1) +
                           at::mv(h, rbm.hidden_bias()).unsqueeze(0);
  EXPECT_NEAR(rbm.log_partition(), joint.flatten().logsumexp(0).item<double>(), 1e-12);
  EXPECT_TRUE(at::allclose(rbm.log_probability(v), joint.logsumexp(1) - rbm.log_partition(), 1e-12, 1e-12));
  EXPECT_NEAR(rbm.log_probability(v).exp().sum().item<double>(), 1.0, 1e-12);
}

TEST(RandomRbm, SamplesFollowTheExactDistribution) {
  // χ² over the 64 states (the rarest merged until at least 10 are expected in each cell): with at most 63 degrees of
  // freedom, P(χ² > 115) < 1e-4.
  const RandomRbm rbm(Key(2), small);
  constexpr std::int64_t n = 40000;
  const at::Tensor codes = rbm.sample(n, Key(3)).values.to(at::kLong).mul(at::pow(2, at::arange(6, at::kLong))).sum(1);
  const at::Tensor counts = codes.bincount({}, 64).to(at::kDouble);
  const at::Tensor expected = rbm.log_probability(all_states(6)).exp() * static_cast<double>(n);
  double chi_square = 0, rare_count = 0, rare_expected = 0;
  for (std::int64_t k = 0; k < 64; ++k) {
    const double e = expected[k].item<double>(), c = counts[k].item<double>();
    if (e < 10) {
      rare_expected += e;
      rare_count += c;
    } else {
      chi_square += (c - e) * (c - e) / e;
    }
  }
  if (rare_expected > 0) chi_square += (rare_count - rare_expected) * (rare_count - rare_expected) / rare_expected;
  EXPECT_LT(chi_square, 115.0);
}

TEST(RandomRbm, TheEntropyIsMinusTheMeanLogProbabilityOfItsSamples) {
  // −ln p(v) has a deviation measured from the same samples; 4.5 standard errors: false-alarm rate 7e-6.
  const RandomRbm rbm(Key(4));
  const at::Tensor log_p = rbm.log_probability(rbm.sample(20000, Key(5)).values);
  EXPECT_NEAR(-log_p.mean().item<double>(), rbm.entropy(), 4.5 * log_p.std().item<double>() / std::sqrt(20000.0));
}

TEST(RandomRbm, TheDefaultTeacherIsNeitherUniformNorStuck) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const double entropy = RandomRbm(Key(seed)).entropy();
    EXPECT_LT(entropy, 16 * std::log(2.0) - 1) << seed;
    EXPECT_GT(entropy, 3) << seed;
  }
}

TEST(RandomRbm, TheTeacherAndTheDrawsHaveKeysOfTheirOwn) {
  EXPECT_TRUE(at::equal(RandomRbm(Key(1)).weights(), RandomRbm(Key(1)).weights()));
  EXPECT_FALSE(at::equal(RandomRbm(Key(1)).weights(), RandomRbm(Key(2)).weights()));
  const RandomRbm rbm(Key(1));
  EXPECT_TRUE(at::equal(rbm.sample(50, Key(7)).values, rbm.sample(90, Key(7)).first(50).values));
  EXPECT_FALSE(at::equal(rbm.sample(50, Key(7)).values, rbm.sample(50, Key(8)).values));
}

TEST(RandomRbm, RefusesWhatCannotBeEnumerated) {
  EXPECT_THROW(RandomRbm(Key(1), {.hidden = 13}), Error);
  EXPECT_THROW(RandomRbm(Key(1), {.visible = 0}), Error);
  EXPECT_THROW((void)RandomRbm(Key(1), {.visible = 21}).entropy(), Error);
  EXPECT_THROW((void)RandomRbm(Key(1)).log_probability(at::zeros({2, 3})), Error);
}

}  // namespace
}  // namespace harmonium
