#include "harmonium/models/mixture/bernoulli_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::expect_close;

// Statistics of the mixture with these shares and means.
BernoulliMixture mixture_of(const at::Tensor& shares, const at::Tensor& means) {
  const BernoulliMixture shape(means.size(1), means.size(0), at::kDouble);
  return shape.with_parameters({{"share", shares.clone()}, {"active", shares.unsqueeze(1) * means}});
}

BernoulliMixture random_mixture(std::int64_t inputs, std::int64_t components, std::uint64_t seed = 3) {
  const at::Tensor weights = uniform(Key(seed).fold_in(0), {components}, at::kDouble) + 0.1;
  return mixture_of(weights / weights.sum(), uniform(Key(seed).fold_in(1), {components, inputs}, at::kDouble));
}

at::Tensor random_bits(std::int64_t rows, std::int64_t inputs) {
  return uniform(Key(5), {rows, inputs}, at::kDouble).round();
}

// The header's formula in plain loops: log p(x) and p(k | x).
struct PlainAnswer {
  double log_p = 0;
  support::Row responsibilities;
};
PlainAnswer plain_answer(const BernoulliMixture& mixture, const support::Row& x) {
  const support::Row share = support::numbers(mixture.parameters()["share"]),
                     active = support::numbers(mixture.parameters()["active"]);
  PlainAnswer answer;
  double sum = 0;
  for (std::size_t k = 0; k < share.size(); ++k) {
    double product = share[k];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double mean = active[k * x.size() + i] / share[k];
      product *= x[i] == 1 ? mean : 1 - mean;
    }
    answer.responsibilities.push_back(product);
    sum += product;
  }
  for (double& each : answer.responsibilities) each /= sum;
  answer.log_p = std::log(sum);
  return answer;
}

// What EM with smoothing climbs: the mean log-likelihood and the logarithm of the prior.
double climbed(const BernoulliMixture& mixture, const at::Tensor& rows, double smoothing) {
  const at::Tensor mu = mixture.means();
  const at::Tensor prior = mixture.shares().log().sum() + (mu.log() + at::log1p(-mu)).sum() / 2;
  return mixture.log_probabilities(rows).mean().item<double>() +
         (smoothing == 0 ? 0 : smoothing * prior.item<double>());
}

void em_step(BernoulliMixture& mixture, const at::Tensor& rows, double rate, double smoothing = 0) {
  mixture.parameters().lerp_(mixture.expected_statistics(rows, smoothing).statistics, rate);
}

TEST(BernoulliMixture, ProbabilitiesOfAllRowsSumToOne) {
  for (const std::int64_t components : {1, 2, 7}) {
    const BernoulliMixture mixture = random_mixture(8, components);
    EXPECT_NEAR(mixture.log_probabilities(support::all_rows(8)).exp().sum().item<double>(), 1, 1e-13);
  }
}

TEST(BernoulliMixture, IsTheFormulaOfItsHeader) {
  const BernoulliMixture mixture = random_mixture(6, 4);
  const at::Tensor rows = support::all_rows(6), log_p = mixture.log_probabilities(rows),
                   r = mixture.responsibilities(rows), means = mixture.reconstruct(rows);
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    const PlainAnswer expected = plain_answer(mixture, support::numbers(rows[row]));
    EXPECT_NEAR(log_p[row].item<double>(), expected.log_p, 1e-12);
    at::Tensor mean = at::zeros({6}, at::kDouble);
    for (std::int64_t k = 0; k < 4; ++k) {
      const double share = expected.responsibilities[static_cast<std::size_t>(k)];
      EXPECT_NEAR(r[row][k].item<double>(), share, 1e-13);
      mean += share * mixture.means()[k];
    }
    expect_close(means[row], mean, 1e-13);
  }
}

// By Fisher's identity the gradient of log p in the log-odds z of the means is Ŝ − μ ŝ, and in softmax parameters a of
// the shares ŝ − π; with the prior of the header as well, both times 1 + K c. LibTorch differentiates the formula.
TEST(BernoulliMixture, StatisticsAreThoseOfAutomaticDifferentiation) {
  constexpr std::int64_t inputs = 7, components = 3;
  const BernoulliMixture mixture = random_mixture(inputs, components);
  const at::Tensor rows = random_bits(40, inputs), pi = mixture.shares(), mu = mixture.means();
  for (const double c : {0.0, 0.07}) {
    const at::Tensor a = pi.log().set_requires_grad(true), z = at::logit(mu).set_requires_grad(true);
    const at::Tensor log_on = at::log_sigmoid(z), log_off = at::log_sigmoid(-z), log_pi = at::log_softmax(a, 0);
    const at::Tensor mean = at::logsumexp(log_pi + at::mm(rows, log_on.t()) + at::mm(1 - rows, log_off.t()), 1).mean();
    (mean + c * (log_pi.sum() + (log_on + log_off).sum() / 2)).backward();
    const ExpectedStatistics found = mixture.expected_statistics(rows, c);
    const at::Tensor s = found.statistics["share"], S = found.statistics["active"];
    const double all = 1 + components * c;
    EXPECT_NEAR(found.log_likelihood.item<double>(), mean.item<double>(), 1e-12);
    expect_close(all * (s - pi), a.grad(), 1e-13);
    expect_close(all * (S - mu * s.unsqueeze(1)), z.grad(), 1e-13);
  }
}

TEST(BernoulliMixture, TheMStepIsTheBestThereIsForItsResponsibilities) {
  const BernoulliMixture before = random_mixture(5, 3);
  const at::Tensor rows = random_bits(60, 5), r = before.responsibilities(rows);
  BernoulliMixture after = before.to(at::kDouble);
  em_step(after, rows, 1);
  // Q = mean_n Σ_k r_nk [log π_k + log p(x_n | k)] as a function of shares and means.
  const auto q = [&](const at::Tensor& pi, const at::Tensor& mu) {
    const at::Tensor log_p = at::mm(rows, mu.log().t()) + at::mm(1 - rows, at::log1p(-mu).t());
    return (r * (pi.log() + log_p)).sum(1).mean().item<double>();
  };
  const at::Tensor pi = after.shares(), mu = after.means();
  const double best = q(pi, mu);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const at::Tensor moved = pi * at::exp(0.01 * normal(Key(seed).fold_in(0), {3}, at::kDouble));
    const at::Tensor others = (mu + 0.003 * normal(Key(seed).fold_in(1), {3, 5}, at::kDouble)).clamp(1e-3, 0.999);
    EXPECT_LT(q(moved / moved.sum(), mu), best);
    EXPECT_LT(q(pi, others), best);
  }
}

// A theorem (the header has the proof), so what is allowed is rounding and nothing else.
TEST(BernoulliMixture, EmOnAllRowsNeverLowersWhatItClimbs) {
  const at::Tensor rows = at::cat({random_bits(50, 9), random_mixture(9, 2, 8).sample(Key(1), 150).rows});
  for (const double rate : {1.0, 0.5, 0.05})
    for (const double smoothing : {0.0, 0.01})
      for (const std::int64_t components : {1, 2, 5, 40}) {
        BernoulliMixture mixture = random_mixture(9, components, 11);
        double before = climbed(mixture, rows, smoothing);
        const double first = before;
        for (int step = 0; step < 150; ++step) {
          em_step(mixture, rows, rate, smoothing);
          const double now = climbed(mixture, rows, smoothing);
          EXPECT_GE(now, before - 1e-13 * (1 + std::abs(before)))
              << "rate " << rate << ", smoothing " << smoothing << ", components " << components << ", step " << step;
          before = now;
        }
        EXPECT_GT(before, first + 0.1);
        EXPECT_TRUE(mixture.in_domain());
      }
}

TEST(BernoulliMixture, OneComponentIsTheColumnMeansAfterOneStep) {
  BernoulliMixture mixture = random_mixture(6, 1);
  const at::Tensor rows = random_bits(30, 6);
  em_step(mixture, rows, 1);
  expect_close(mixture.means()[0], rows.mean(0), 1e-13);
  em_step(mixture, rows, 1, 0.5);  // 15 pseudo-rows beside 30
  expect_close(mixture.means()[0], (rows.sum(0) + 7.5) / 45, 1e-13);
}

TEST(BernoulliMixture, FindsAPlantedMixtureByEmAndByOnlineEm) {
  constexpr std::int64_t count = 6000, inputs = 12;
  at::Tensor means = at::full({3, inputs}, 0.1, at::kDouble);
  for (std::int64_t k = 0; k < 3; ++k) means[k].narrow(0, 4 * k, 4).fill_(0.9);
  const at::Tensor shares = at::tensor({0.5, 0.3, 0.2}, at::kDouble);
  const at::Tensor rows = mixture_of(shares, means).sample(Key(2), count).rows;
  for (const std::int64_t batch : {count, std::int64_t{100}}) {
    BernoulliMixture found(inputs, 3, at::kDouble);
    initialize(found, Key(4), rows.mean(0), rows.narrow(0, 0, 3));
    for (std::int64_t update = 0; update < 600; ++update)
      em_step(found, rows.narrow(0, update * batch % count, batch),
              batch == count ? 1 : 1 / std::pow(1 + static_cast<double>(update), 0.6));
    for (std::int64_t k = 0; k < 3; ++k) {
      const auto nearest = (found.means() - means[k]).abs().sum(1).argmin().item<std::int64_t>();
      // Of 1200 rows a mean is off by 0.0087 and a share by 0.0065 at most; with the 5.5 standard deviations of
      // tests/support and half as much again for rows that look like another component's.
      EXPECT_LT((found.means()[nearest] - means[k]).abs().max().item<double>(), 0.075) << batch;
      EXPECT_NEAR(found.shares()[nearest].item<double>(), shares[k].item<double>(), 0.055) << batch;
    }
  }
}

TEST(BernoulliMixture, DrawsRowsAsOftenAsTheirProbability) {
  const BernoulliMixture mixture = random_mixture(5, 4);
  const BernoulliMixture::Draws draws = mixture.sample(Key(7), 40000);
  EXPECT_TRUE(draws.rows.eq(0).logical_or(draws.rows.eq(1)).all().item<bool>());
  // χ² with a false-alarm rate of 1e-6 each, seed fixed.
  support::expect_frequencies(support::numbers(at::bincount(support::codes({{draws.rows}}), {}, 32)),
                              support::numbers(mixture.log_probabilities(support::all_rows(5)).exp()));
  support::expect_frequencies(support::numbers(at::bincount(draws.components, {}, 4)),
                              support::numbers(mixture.shares()));
  expect_close(draws.means, mixture.means().index_select(0, draws.components), 1e-15);
  EXPECT_TRUE(at::equal(mixture.sample(Key(7), 7).rows, draws.rows.narrow(0, 0, 7))) << "a row depends on its number";
  EXPECT_FALSE(at::equal(mixture.sample(Key(8), 40000).rows, draws.rows));
}

TEST(BernoulliMixture, TakesCertainPixelsAndLostComponents) {
  BernoulliMixture mixture = mixture_of(at::tensor({0.5, 0.5, 0.0}, at::kDouble),
                                        at::tensor({1.0, 0.0, 0.0, 1.0, 0.5, 0.5}, at::kDouble).view({3, 2}));
  const at::Tensor rows = support::all_rows(2);
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(at::isfinite(mixture.log_probabilities(rows)).all().item<bool>());
    EXPECT_NEAR(mixture.log_probabilities(rows).exp().sum().item<double>(), 1, 1e-13);
    EXPECT_EQ(mixture.responsibilities(rows).select(1, 2).max().item<double>(), 0);
    EXPECT_TRUE(mixture.in_domain());
    em_step(mixture, rows, 0.5);
  }
}

TEST(BernoulliMixture, DoesNotDependOnWhichRowsAreTakenTogetherAndRoundsInSinglePrecision) {
  const BernoulliMixture mixture = random_mixture(9, 6), single = mixture.to(at::kFloat);
  const at::Tensor rows = random_bits(2100, 9);  // more than are taken at once
  Moments sum = mixture.parameters().zeros_like();
  for (std::int64_t first = 0; first < 2100; first += 70)
    sum.add_(mixture.expected_statistics(rows.narrow(0, first, 70)).statistics, 70.0 / 2100);
  expect_close(mixture.expected_statistics(rows).statistics, sum, 1e-13);
  expect_close(single.expected_statistics(rows).statistics, sum, 1e-6);
  expect_close(single.log_probabilities(rows), mixture.log_probabilities(rows), 1e-5);
}

TEST(BernoulliMixture, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const BernoulliMixture mixture(3, 2);
  EXPECT_TRUE(mixture.in_domain());
  EXPECT_FALSE(mixture.with_parameters({{"share", at::ones({2})}, {"active", at::zeros({2, 3})}}).in_domain());
  EXPECT_FALSE(mixture.with_parameters({{"share", at::full({2}, 0.5)}, {"active", at::ones({2, 3})}}).in_domain());
  expect_mentions(message_of([] { BernoulliMixture(0, 2); }), {"0", "2"});
  expect_mentions(message_of([&] { (void)mixture.log_probabilities(at::zeros({2, 5})); }), {"3", "5"});
  expect_mentions(message_of([&] { (void)mixture.expected_statistics(at::zeros({0, 3})); }), {"at least one row"});
  expect_mentions(message_of([&] { (void)mixture.expected_statistics(at::zeros({1, 3}), -1); }), {"-1"});
  expect_mentions(message_of([&] { (void)mixture.with_parameters(BernoulliMixture(4, 2).parameters()); }),
                  {"active", "8"});
  BernoulliMixture other(3, 2);
  expect_mentions(message_of([&] { initialize(other, Key(1), at::zeros({3}), at::zeros({3, 3})); }), {"3", "2", "row"});
}

}  // namespace
}  // namespace harmonium
