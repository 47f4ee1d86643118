// Mean field of spike-and-slab sparse coding against its exact posterior, and against its bound climbed by other means.
#include "harmonium/inference/s3c_mean_field.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/inference/s3c_latents.h"
#include "harmonium/training/loss_gradient.h"
#include "tests/support/machines.h"
#include "tests/support/s3c.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::small_s3c;

at::Tensor s3c_test_rows(const S3c& model, std::int64_t count) { return model.sample(Key(8), count).rows; }

constexpr S3cMeanFieldOptions to_the_end{.rounds = 50, .single_rounds = 500};

TEST(S3cMeanField, IsExactForOneUnit) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const S3c model = small_s3c(3, 1, seed);
    const S3cTerms terms(model.parameters());
    const at::Tensor rows = s3c_test_rows(model, 20);
    const S3cPosterior q = s3c_mean_field(terms, rows, {.rounds = 0, .single_rounds = 1});
    const S3c::Enumeration exact = model.enumerate(rows);
    expect_close(q.spikes, exact.spikes, 1e-10);
    expect_close(s3c_bound(terms, rows, q), exact.log_p, 1e-10);
  }
}

TEST(S3cMeanField, HasABoundThatIsBelowAndNearTheLogProbability) {
  double widest = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const S3c model = small_s3c(4, 5, seed);
    const S3cTerms terms(model.parameters());
    const at::Tensor rows = s3c_test_rows(model, 30);
    const at::Tensor gap =
        model.enumerate(rows).log_p - s3c_bound(terms, rows, s3c_mean_field(terms, rows, to_the_end));
    EXPECT_GT(gap.min().item<double>(), -1e-9) << seed;
    // Its start is a posterior, too: that of no data at all.
    const at::Tensor start = s3c_bound(terms, rows, s3c_mean_field(terms, rows, {.rounds = 0}));
    EXPECT_LT(gap.mean().item<double>(), 0.2 * (model.enumerate(rows).log_p - start).mean().item<double>()) << seed;
    widest = std::max(widest, gap.max().item<double>());
  }
  EXPECT_GT(widest, 0.01) << "units that overlap explain each other away, which no factorial posterior can";
}

TEST(S3cMeanField, NeverLowersTheBoundOneByOne) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const S3c model = small_s3c(4, 6, seed, 1.5);
    const S3cTerms terms(model.parameters());
    const at::Tensor rows = s3c_test_rows(model, 20);
    S3cPosterior q = support::random_posterior(20, 6, seed);
    at::Tensor bound = s3c_bound(terms, rows, q);
    for (int round = 0; round < 15; ++round) {
      s3c_single_round_(terms, rows, q);
      const at::Tensor next = s3c_bound(terms, rows, q);
      EXPECT_GT((next - bound).min().item<double>(), -1e-9) << seed << ", round " << round;
      bound = next;
    }
  }
}

// Slopes of the bound in (ŝ, log-odds of ĥ, log γ), which are zero at a maximum.
struct Slopes {
  at::Tensor bound;
  Moments of;
};
Slopes slopes_of(const S3cTerms& terms, const at::Tensor& rows, const Moments& free) {
  at::Tensor each;
  const auto loss = [&](const Moments& leaves) {
    each = s3c_bound(
        terms, rows,
        {.spikes = leaves["spikes"].sigmoid(), .slabs = leaves["slabs"], .precision = leaves["precision"].exp()});
    return each.sum();
  };
  LossGradient found = loss_gradient(free, loss);
  return {.bound = each.detach(), .of = std::move(found.gradient)};
}

TEST(S3cMeanField, EndsWhereTheBoundClimbedByItsGradientEnds) {
  // Columns at right angles, so that there is one maximum only.
  S3c model = small_s3c(4, 2);
  const at::Tensor right_angles = std::get<0>(at::linalg_qr(normal(Key(2), {4, 2}, at::kDouble)));
  model.parameters()["weights"].copy_(1.5 * right_angles);
  const S3cTerms terms(model.parameters());
  const at::Tensor rows = s3c_test_rows(model, 5);
  const S3cPosterior q = s3c_mean_field(terms, rows, to_the_end);
  const at::Tensor bound = s3c_bound(terms, rows, q);
  const Moments there({{"spikes", q.spikes.logit()}, {"slabs", q.slabs}, {"precision", q.precision.log()}});
  const Slopes flat = slopes_of(terms, rows, there);
  for (const auto& [name, slope] : flat.of.entries()) EXPECT_LT(slope.abs().max().item<double>(), 1e-7) << name;
  // From elsewhere, by steps up the gradient. One γ is shared by all rows.
  Moments free = there.map([](const at::Tensor& x) { return x + 0.5 * normal(Key(6), x.sizes(), at::kDouble); });
  for (int step = 0; step < 5000; ++step) free.add_(slopes_of(terms, rows, free).of, 0.05);
  const Slopes end = slopes_of(terms, rows, free);
  EXPECT_LT(norm(end.of), 1e-3);
  EXPECT_LT((end.bound.sum() - bound.sum()).item<double>(), 1e-9) << "nothing is higher";
  expect_close(end.bound, bound, 1e-4);
}

TEST(S3cMeanField, FindsAllAtOnceWhatItFindsOneByOne) {
  const S3c model = small_s3c(6, 4, 3, 0.5);
  const S3cTerms terms(model.parameters());
  const at::Tensor rows = s3c_test_rows(model, 20);
  const S3cPosterior at_once = s3c_mean_field(terms, rows, {.rounds = 400}),
                     one_by_one = s3c_mean_field(terms, rows, {.rounds = 0, .single_rounds = 400});
  expect_close(at_once.spikes, one_by_one.spikes, 1e-8);
  expect_close(at_once.slabs, one_by_one.slabs, 1e-8);
}

TEST(S3cMeanField, NeedsDampingWhereColumnsOverlap) {
  S3c model = small_s3c(4, 3);
  at::Tensor W = model.parameters()["weights"];
  W.copy_(W.narrow(1, 0, 1) + 0.1 * W);
  model.parameters()["spike.bias"].fill_(2);
  const S3cTerms terms(model.parameters());
  const at::Tensor rows = s3c_test_rows(model, 50);
  const auto bound = [&](const S3cMeanFieldOptions& options) {
    return s3c_bound(terms, rows, s3c_mean_field(terms, rows, options)).mean().item<double>();
  };
  const double damped = bound({.rounds = 50}), start = bound({.rounds = 0});
  EXPECT_LT(bound({.rounds = 50, .damping = 0, .clip = 1}), damped - 1);
  EXPECT_GT(damped, start);
  EXPECT_NEAR(damped, bound(to_the_end), 0.5);
}

TEST(S3cMeanField, KeepsTheBetterOfTwoStartsForEveryRow) {
  const S3c model = small_s3c(4, 6, 5, 2);
  const S3cTerms terms(model.parameters());
  const at::Tensor rows = s3c_test_rows(model, 200);
  const auto bound = [&](bool two_starts) {
    return s3c_bound(terms, rows, s3c_mean_field(terms, rows, {.single_rounds = 200, .two_starts = two_starts}));
  };
  const at::Tensor gain = bound(true) - bound(false);
  EXPECT_TRUE(gain.ge(0).all().item<bool>());
  EXPECT_TRUE(gain.gt(0.1).any().item<bool>()) << "columns of this length have local maxima";
  EXPECT_TRUE(gain.eq(0).any().item<bool>());
}

TEST(S3cMeanField, RefusesWhatMakesNoSense) {
  const S3c model = small_s3c(3, 2);
  const S3cTerms terms(model.parameters());
  const at::Tensor rows = s3c_test_rows(model, 2);
  EXPECT_THROW((void)s3c_mean_field(terms, rows, {.rounds = -1}), Error);
  EXPECT_THROW((void)s3c_mean_field(terms, rows, {.damping = 1}), Error);
  EXPECT_THROW((void)s3c_mean_field(terms, rows, {.clip = 0}), Error);
  EXPECT_THROW((void)s3c_mean_field(terms, rows.narrow(1, 0, 2)), Error);
}

// E_q w = p(v) row by row: 10 comparisons at 5.5 standard errors, false alarms 4e-7.
TEST(S3cLatents, HaveWeightsWithTheProbabilityOfARowAsTheirMean) {
  const S3c model = small_s3c(4, 5, 2);
  const at::Tensor rows = s3c_test_rows(model, 10), log_p = model.enumerate(rows).log_p;
  const S3cLatents latents(model);
  const Trace trace = latents.infer(model.parameters(), rows, 20'000, Key(2));
  support::expect_mean((trace.log_weights() - log_p.unsqueeze(1)).exp().t(), at::ones({10}, at::kDouble));
  const Trace again = latents.score(model.parameters(), rows, trace.latents);
  expect_close(again.log_weights(), trace.log_weights(), 1e-12);
  const Trace third = latents.infer(model.parameters(), rows, 1, Key(2), 3);
  EXPECT_TRUE(at::equal(third.latents[0].squeeze(1), trace.latents[0].select(1, 3))) << "draws have numbers";
}

TEST(S3cLatents, DreamRowsWithTheSpikesThatMadeThem) {
  const S3c model = small_s3c(4, 5, 2);
  const Dream dream = S3cLatents(model).dream(model.parameters(), 50, Key(4));
  const S3c::Draws draws = model.sample(Key(4), 50);
  EXPECT_TRUE(at::equal(dream.visible, draws.rows) && at::equal(dream.latents.at(0), draws.spikes));
}

}  // namespace
}  // namespace harmonium
