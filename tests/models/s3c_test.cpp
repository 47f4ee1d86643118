#include "harmonium/models/directed/s3c.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/training/loss_gradient.h"
#include "tests/support/machines.h"
#include "tests/support/s3c.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::small_s3c;

// log N(rows; mean, covariance) of one Gaussian.
at::Tensor log_gaussian(const at::Tensor& rows, const at::Tensor& mean, const at::Tensor& covariance) {
  const at::Tensor d = rows - mean, distance = (d.matmul(at::inverse(covariance)) * d).sum(1);
  return -0.5 *
         (distance + at::logdet(covariance) + static_cast<double>(mean.size(0)) * std::log(2 * std::numbers::pi));
}

// log N(x; mean, 1/precision), number by number.
at::Tensor log_normal(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& precision) {
  return 0.5 * (precision.log() - std::log(2 * std::numbers::pi) - precision * (x - mean).square());
}

// log p(h) of single spikes.
at::Tensor log_bernoulli(const at::Tensor& spikes, const at::Tensor& p) {
  return (spikes * p.log() + (1 - spikes) * (1 - p).log()).sum(-1);
}

at::Tensor s3c_values(std::int64_t inputs, std::int64_t count = 6) {
  return 1.5 * normal(Key(9), {count, inputs}, at::kDouble);
}

// Midpoints with a step of 0.1, a fifth of the narrowest deviation: the error of a Gaussian is far below 1e-9.
TEST(S3c, IntegratesToOne) {
  constexpr double step = 0.1, reach = 30;
  const at::Tensor axis = at::arange(-reach + step / 2, reach, step, at::kDouble);
  const std::vector<at::Tensor> mesh = at::meshgrid({axis, axis}, "ij");
  const at::Tensor points = at::stack({mesh[0].reshape({-1}), mesh[1].reshape({-1})}, 1);
  for (const std::int64_t hidden : {1, 3}) {
    const at::Tensor log_p = small_s3c(2, hidden).enumerate(points).log_p;
    EXPECT_NEAR(log_p.exp().sum().item<double>() * step * step, 1, 1e-9) << hidden;
  }
}

TEST(S3c, IsTheMixtureOfGaussiansThatItsSpikesChoose) {
  for (const auto& [inputs, hidden] : std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 1}, {2, 4}, {5, 3}}) {
    const S3c model = small_s3c(inputs, hidden);
    const S3cTerms terms(model.parameters());
    const at::Tensor rows = s3c_values(inputs), states = support::all_spikes(hidden);
    std::vector<at::Tensor> joint;
    for (std::int64_t i = 0; i < states.size(0); ++i) {
      const at::Tensor h = states[i], mean = terms.a + terms.W.mv(h * terms.mu),
                       covariance = at::diag(1 / terms.beta) + (terms.W * (h / terms.alpha)).matmul(terms.W.t());
      joint.push_back(log_gaussian(rows, mean, covariance) + log_bernoulli(h, terms.b.sigmoid()));
    }
    const at::Tensor expected = at::stack(joint, 1);
    const at::Tensor given = states.expand({rows.size(0), -1, -1});
    expect_close(s3c_log_joint(terms, rows, given), expected, 1e-10, "each state");
    const S3c::Enumeration found = model.enumerate(rows);
    expect_close(found.log_p, at::logsumexp(expected, 1), 1e-10, "their sum");
    expect_close(found.spikes, at::softmax(expected, 1).matmul(states), 1e-10, "the posterior of spikes");
  }
}

// The sum over spikes and the integral over slabs as they are written, by midpoints over ±15 prior deviations or more:
// steps of 0.05 under deviations of 0.2 or more.
TEST(S3c, IsTheIntegralOverSpikesAndSlabs) {
  constexpr double step = 0.05, reach = 12;
  const at::Tensor axis = at::arange(-reach + step / 2, reach, step, at::kDouble);
  for (const std::int64_t hidden : {1, 2}) {
    const S3c model = small_s3c(3, hidden);
    const S3cTerms terms(model.parameters());
    const at::Tensor rows = s3c_values(3, 3), states = support::all_spikes(hidden);
    const at::Tensor slabs = hidden == 1 ? axis.unsqueeze(1) : at::cartesian_prod({axis, axis});
    at::Tensor total = at::full({rows.size(0)}, -std::numeric_limits<double>::infinity(), at::kDouble);
    for (std::int64_t i = 0; i < states.size(0); ++i) {
      const at::Tensor h = states[i], prior = log_normal(slabs, h * terms.mu, terms.alpha).sum(1),
                       means = terms.a + (slabs * h).matmul(terms.W.t());
      for (std::int64_t row = 0; row < rows.size(0); ++row) {
        const at::Tensor each = prior + log_normal(rows[row], means, terms.beta).sum(1);
        total[row] = at::logaddexp(total[row], at::logsumexp(each, 0) + log_bernoulli(h, terms.b.sigmoid()) +
                                                   static_cast<double>(hidden) * std::log(step));
      }
    }
    expect_close(model.enumerate(rows).log_p, total, 1e-8, std::to_string(hidden));
  }
}

// E_q[log p(v, h, s) − log q(h, s)], its integrals over slabs by midpoints.
TEST(S3c, HasTheBoundThatIsTheMeanOfLogRatiosUnderThePosterior) {
  constexpr double step = 0.05, reach = 10;
  constexpr std::int64_t hidden = 2;
  const S3c model = small_s3c(3, hidden);
  const S3cTerms terms(model.parameters());
  const at::Tensor rows = s3c_values(3, 3), states = support::all_spikes(hidden);
  const S3cPosterior q = support::random_posterior(3, hidden, 4);
  const at::Tensor axis = at::arange(-reach + step / 2, reach, step, at::kDouble),
                   slabs = at::cartesian_prod({axis, axis});
  at::Tensor expected = at::zeros({3}, at::kDouble);
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t i = 0; i < states.size(0); ++i) {
      const at::Tensor h = states[i], log_q_h = log_bernoulli(h, q.spikes[row]);
      const at::Tensor log_q_s = log_normal(slabs, h * q.slabs[row], h * q.precision + (1 - h) * terms.alpha).sum(1);
      const at::Tensor log_p = log_bernoulli(h, terms.b.sigmoid()) +
                               log_normal(slabs, h * terms.mu, terms.alpha).sum(1) +
                               log_normal(rows[row], terms.a + (slabs * h).matmul(terms.W.t()), terms.beta).sum(1);
      expected[row] += log_q_h.exp() * (log_q_s.exp() * (log_p - log_q_s - log_q_h)).sum() * step * step;
    }
  expect_close(s3c_bound(terms, rows, q), expected, 1e-7);
}

TEST(S3c, HasABoundBelowItsLogProbabilityForAnyPosterior) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const S3c model = small_s3c(3, 4, seed);
    const at::Tensor rows = s3c_values(3, 10);
    const at::Tensor bound = s3c_bound(S3cTerms(model.parameters()), rows, support::random_posterior(10, 4, seed));
    EXPECT_TRUE(bound.lt(model.enumerate(rows).log_p).all().item<bool>()) << seed;
  }
}

TEST(S3c, HasTheGradientOfItsBoundAtAFixedPosterior) {
  S3c model = small_s3c(3, 2);
  const at::Tensor rows = s3c_values(3);
  const S3cPosterior q = support::random_posterior(rows.size(0), 2, 4);
  const auto value = [&](const Moments& parameters) { return s3c_bound(S3cTerms(parameters), rows, q).mean(); };
  const Moments gradient = loss_gradient(model.parameters(), value).gradient;
  ASSERT_EQ(gradient.entries().size(), model.parameters().entries().size());
  constexpr double h = 1e-6;
  for (const auto& [name, entry] : model.parameters().entries()) {
    at::Tensor slopes = at::zeros_like(entry), flat = slopes.view({-1}), moved = entry.view({-1});
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      const double kept = moved[i].item<double>();
      moved[i] = kept + h;
      const double up = value(model.parameters()).item<double>();
      moved[i] = kept - h;
      flat[i] = (up - value(model.parameters()).item<double>()) / (2 * h);
      moved[i] = kept;
    }
    expect_close(gradient[name], slopes, 1e-7, name);
  }
}

// 3 means, 6 covariances and 2 spikes against what follows from the parameters, at 5.5 standard errors each: false
// alarms 5e-7.
TEST(S3c, DrawsRowsWithItsMeanAndCovariance) {
  const S3c model = small_s3c(3, 2);
  const S3cTerms terms(model.parameters());
  const S3c::Draws draws = model.sample(Key(3), 100'000);
  const at::Tensor p = terms.b.sigmoid(), mean = terms.a + terms.W.mv(p * terms.mu),
                   variance = p * (terms.mu.square() + 1 / terms.alpha) - (p * terms.mu).square(),
                   covariance = at::diag(1 / terms.beta) + (terms.W * variance).matmul(terms.W.t());
  support::expect_mean(draws.spikes, p, "spikes");
  support::expect_mean(draws.rows, mean, "means");
  const at::Tensor d = draws.rows - mean;
  support::expect_mean(d.unsqueeze(2) * d.unsqueeze(1), covariance, "covariance");
  expect_close(model.decode(draws.spikes * draws.slabs), draws.means, 1e-12);
  const S3c::Draws few = model.sample(Key(3), 7);
  EXPECT_TRUE(at::equal(few.rows, draws.rows.narrow(0, 0, 7))) << "a row depends on its own number alone";
}

TEST(S3c, IsTheSameDensityWithColumnsOfLengthOne) {
  S3c model = small_s3c(3, 4);
  model.parameters()["weights"].select(1, 2).zero_();
  const Moments canonical = s3c_canonical(model.parameters());
  expect_close(canonical["weights"].norm(2, 0), at::tensor({1.0, 1.0, 0.0, 1.0}, at::kDouble), 1e-12);
  const at::Tensor rows = s3c_values(3);
  expect_close(model.with_parameters(canonical).enumerate(rows).log_p, model.enumerate(rows).log_p, 1e-10);
}

TEST(S3c, SaysWhatItCannotDo) {
  EXPECT_THROW(S3c({.inputs = 3, .hidden = 0}), Error);
  S3c model = small_s3c(3, 2);
  EXPECT_THROW((void)model.with_parameters(small_s3c(3, 3).parameters()), Error);
  EXPECT_THROW((void)model.enumerate(s3c_values(2)), Error);
  const S3c wide({.inputs = 3, .hidden = S3c::most_enumerated + 1});
  EXPECT_FALSE(wide.can_enumerate());
  EXPECT_THROW((void)wide.enumerate(s3c_values(3)), Error);
  EXPECT_TRUE(model.in_domain());
  model.parameters()["slab.log_precision"][0] = 100;
  EXPECT_FALSE(model.in_domain());
}

}  // namespace
}  // namespace harmonium
