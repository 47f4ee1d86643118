#include "harmonium/models/mixture/factor_analyzers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

// Statistics that give exactly these components: E[z z̃ᵀ] = I, so products and squares follow.
FactorAnalyzers with_components(const FactorAnalyzers::Components& wanted) {
  const std::int64_t M = wanted.means.size(0), N = wanted.means.size(1), q = wanted.loadings.size(2);
  const FactorAnalyzers shape(N, M, q, 1e-3, at::kDouble);
  const at::Tensor s = wanted.shares, fitted = at::cat({wanted.loadings, wanted.means.unsqueeze(2)}, 2);
  return shape.with_parameters({{"share", s.clone()},
                                {"codes", at::eye(q + 1, at::kDouble) * s.view({M, 1, 1})},
                                {"products", fitted * s.view({M, 1, 1})},
                                {"squares", (fitted.square().sum(2) + wanted.noise) * s.unsqueeze(1)}});
}

FactorAnalyzers::Components random_components(std::int64_t M, std::int64_t N, std::int64_t q, std::uint64_t seed,
                                              double apart = 1) {
  const Key key(seed);
  const at::Tensor s = uniform(key.fold_in(0), {M}, at::kDouble) + 0.5;
  return {.shares = s / s.sum(),
          .means = apart * normal(key.fold_in(1), {M, N}, at::kDouble),
          .loadings = normal(key.fold_in(2), {M, N, q}, at::kDouble),
          .noise = 0.2 + uniform(key.fold_in(3), {M, N}, at::kDouble)};
}

at::Tensor covariance_of(const FactorAnalyzers::Components& all, std::int64_t m) {
  return all.loadings[m].mm(all.loadings[m].t()) + at::diag(all.noise[m]);
}

// log π_m N(x; μ_m, Σ_m) by the whole covariance.
at::Tensor dense_joint(const FactorAnalyzers::Components& all, const at::Tensor& x) {
  std::vector<at::Tensor> columns;
  for (std::int64_t m = 0; m < all.shares.size(0); ++m) {
    const at::Tensor S = covariance_of(all, m), e = x - all.means[m];
    columns.push_back(all.shares[m].log() - 0.5 * (static_cast<double>(x.size(1)) * std::log(2 * M_PI) + at::logdet(S) +
                                                   (e.mm(at::linalg_inv(S)) * e).sum(1)));
  }
  return at::stack(columns, 1);
}

TEST(FactorAnalyzers, HaveTheDensityOfTheirWholeCovariance) {
  for (const std::int64_t q : {0, 1, 4}) {
    const FactorAnalyzers::Components all = random_components(3, 6, q, 5);
    const FactorAnalyzers mixture = with_components(all);
    const at::Tensor x = 2 * normal(Key(6), {40, 6}, at::kDouble), joint = dense_joint(all, x);
    expect_close(mixture.components().loadings, all.loadings, 1e-9);
    expect_close(mixture.components().noise, all.noise, 1e-9);
    expect_close(mixture.log_probabilities(x), at::logsumexp(joint, 1), 1e-8);
    expect_close(mixture.responsibilities(x), at::softmax(joint, 1), 1e-8);
    // E[x's noiseless part | x] = μ + (Σ − Ψ) Σ⁻¹ (x − μ).
    at::Tensor means = at::zeros_like(x);
    for (std::int64_t m = 0; m < 3; ++m) {
      const at::Tensor S = covariance_of(all, m), gain = at::linalg_inv(S).mm(S - at::diag(all.noise[m]));
      means += at::softmax(joint, 1).narrow(1, m, 1) * (all.means[m] + (x - all.means[m]).mm(gain));
    }
    expect_close(mixture.reconstruct(x), means, 1e-8);
  }
}

// As a damaged file may have them: an error with a sentence, not LibTorch's.
TEST(FactorAnalyzers, RefuseLoadingsThatCannotBeComputedWith) {
  FactorAnalyzers::Components huge = random_components(2, 4, 2, 5);
  huge.loadings.mul_(1e200);
  const std::string message = support::message_of([&] {
    (void)with_components(huge).responsibilities(at::zeros({1, 4}, at::kDouble));
  });
  support::expect_mentions(message, {"factor analysers", "too large"});
}

TEST(FactorAnalyzers, HaveADensityInThePlaneThatIntegratesToOne) {
  const FactorAnalyzers mixture = with_components(random_components(2, 2, 1, 8));
  constexpr std::int64_t points = 400;
  const at::Tensor line = at::linspace(-12, 12, points, at::kDouble),
                   x = at::stack({line.repeat({points}), line.repeat_interleave(points)}, 1);
  const double cell = std::pow(24.0 / (points - 1), 2);
  EXPECT_NEAR(mixture.log_probabilities(x).exp().sum().item<double>() * cell, 1, 1e-6);
}

// On all rows with any rate of at most 1, from a start far from the end, while no noise is at its floor.
TEST(FactorAnalyzers, NeverLoseLikelihoodByEm) {
  for (const double rate : {1.0, 0.3}) {
    FactorAnalyzers mixture(5, 3, 2, 1e-6, at::kDouble);
    const at::Tensor x = with_components(random_components(3, 5, 2, 11, 2)).sample(Key(1), 400).rows;
    initialize(mixture, Key(2), x, 0);
    double before = mixture.log_probabilities(x).mean().item<double>();
    const double start = before;
    for (int step = 0; step < 150; ++step) {
      const ExpectedStatistics found = mixture.expected_statistics(mixture.components(), x);
      EXPECT_NEAR(found.log_likelihood.item<double>(), before, 1e-10);
      mixture.parameters().lerp_(found.statistics, rate);
      const double after = mixture.log_probabilities(x).mean().item<double>();
      ASSERT_GE(after, before - 1e-9) << step << " at rate " << rate;
      before = after;
    }
    EXPECT_GT(before, start + 0.01);
    EXPECT_TRUE(mixture.in_domain());
  }
}

// Where the likelihood of one analyser is greatest, its variances are those of the data, and so is what its factors
// see: (S − Σ) Σ⁻¹ Λ = 0 (Lawley 1940). A second way to the end of EM.
TEST(FactorAnalyzers, EndWhereTheEquationsOfFactorAnalysisHold) {
  const at::Tensor x = with_components(random_components(1, 5, 2, 13)).sample(Key(1), 500).rows;
  FactorAnalyzers mixture(5, 1, 2, 1e-6, at::kDouble);
  initialize(mixture, Key(2), x, 0);
  for (int step = 0; step < 3000; ++step)
    mixture.parameters().copy_(mixture.expected_statistics(mixture.components(), x).statistics);
  const FactorAnalyzers::Components found = mixture.components();
  const at::Tensor e = x - x.mean(0), S = e.t().mm(e) / 500, model = covariance_of(found, 0);
  expect_close(found.means[0], x.mean(0), 1e-6);
  expect_close(model.diagonal(), S.diagonal(), 1e-4);
  expect_close((S - model).mm(at::linalg_inv(model)).mm(found.loadings[0]), at::zeros({5, 2}, at::kDouble), 1e-3);
}

// Without factors every component is a diagonal Gaussian, whose EM is written out here.
TEST(FactorAnalyzers, WithoutFactorsAreDiagonalGaussians) {
  const FactorAnalyzers::Components all = random_components(2, 3, 0, 17);
  const FactorAnalyzers mixture = with_components(all);
  const at::Tensor x = normal(Key(3), {50, 3}, at::kDouble), r = mixture.responsibilities(x), n = r.sum(0).unsqueeze(1);
  const FactorAnalyzers::Components next =
      mixture.with_parameters(mixture.expected_statistics(mixture.components(), x).statistics).components();
  const at::Tensor means = r.t().mm(x) / n;
  expect_close(next.shares, r.mean(0), 1e-10);
  expect_close(next.means, means, 1e-8);
  expect_close(next.noise, r.t().mm(x.square()) / n - means.square(), 1e-8);
}

// A planted mixture, well apart: 4000 rows leave the likelihood of what was learnt within 0.05 nats of the teacher's
// on new rows (37 free numbers of each component, of 4000 rows: about 0.014 expected).
TEST(FactorAnalyzers, RecoverATeacher) {
  const FactorAnalyzers teacher = with_components(random_components(3, 6, 2, 19, 4));
  const at::Tensor x = teacher.sample(Key(1), 4000).rows;
  const FactorAnalyzers::Draws test = teacher.sample(Key(2), 4000);
  FactorAnalyzers student(6, 3, 2, 1e-3, at::kDouble);
  initialize(student, Key(3), x, 0);
  for (int step = 0; step < 200; ++step)
    student.parameters().copy_(student.expected_statistics(student.components(), x).statistics);
  EXPECT_GT(student.log_probabilities(test.rows).mean().item<double>(),
            teacher.log_probabilities(test.rows).mean().item<double>() - 0.05);
  // Each row's component, up to their names.
  const at::Tensor guess = student.responsibilities(test.rows).argmax(1);
  double agreed = 0;
  for (int m = 0; m < 3; ++m)
    agreed += at::bincount(guess.masked_select(test.components.eq(m)), {}, 3).max().item<double>();
  EXPECT_GT(agreed / 4000, 0.97);
}

// 20 000 draws: moments within five standard errors, the largest of which is bounded by the fourth moments.
TEST(FactorAnalyzers, DrawFromTheirDensityRowByRow) {
  const FactorAnalyzers::Components all = random_components(2, 3, 1, 23);
  const FactorAnalyzers mixture = with_components(all);
  constexpr std::int64_t n = 20'000;
  const at::Tensor x = mixture.sample(Key(4), n).rows;
  at::Tensor mean = at::zeros({3}, at::kDouble), second = at::zeros({3, 3}, at::kDouble);
  for (std::int64_t m = 0; m < 2; ++m) {
    const at::Tensor mu = all.means[m].unsqueeze(1);
    mean += all.shares[m] * all.means[m];
    second += all.shares[m] * (covariance_of(all, m) + mu.mm(mu.t()));
  }
  const at::Tensor products = x.unsqueeze(2) * x.unsqueeze(1);
  EXPECT_TRUE(((x.mean(0) - mean).abs() <= 5 * x.std(0) / std::sqrt(n)).all().item<bool>());
  EXPECT_TRUE(((products.mean(0) - second).abs() <= 5 * products.std(0) / std::sqrt(n)).all().item<bool>());
  EXPECT_TRUE(at::allclose(mixture.sample(Key(4), 7).rows, x.narrow(0, 0, 7), 0, 1e-12));
}

TEST(FactorAnalyzers, ComeThroughComponentsWithoutRowsByPseudoRows) {
  FactorAnalyzers mixture(4, 6, 2);
  const at::Tensor x = normal(Key(5), {1, 4}).expand({8, 4});  // one row, eight times
  initialize(mixture, Key(6), x, 0.01);
  for (int step = 0; step < 50; ++step)
    mixture.parameters().copy_(mixture.expected_statistics(mixture.components(), x, 0.01).statistics);
  EXPECT_TRUE(mixture.in_domain());
  EXPECT_TRUE(at::isfinite(mixture.log_probabilities(x)).all().item<bool>());
  EXPECT_THROW((void)mixture.log_probabilities(at::zeros({2, 3})), Error);
  EXPECT_THROW(FactorAnalyzers(0, 1, 1), Error);
}

}  // namespace
}  // namespace harmonium
