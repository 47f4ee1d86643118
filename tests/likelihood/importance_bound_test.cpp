#include "harmonium/likelihood/importance_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/linear_vae.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;
using support::quadrature_log_p;
using support::small_vae;

// Three states h of one latent layer (its number, one column) and four of x (one column), by tables: everything can be
// enumerated. Nothing is continuous, nothing has a path.
class TableModel final : public LatentModel {
 public:
  at::Tensor p = at::tensor({0.30, 0.02, 0.06, 0.02, 0.05, 0.25, 0.05, 0.01, 0.04, 0.02, 0.03, 0.15}, at::kDouble)
                     .reshape({3, 4});  // p(h, x)
  at::Tensor q = at::tensor({0.5, 0.3, 0.2, 0.3, 0.3, 0.4, 0.3, 0.4, 0.3, 0.4, 0.3, 0.3}, at::kDouble)
                     .reshape({4, 3});  // q(h | x)

  [[nodiscard]] at::Tensor weight(std::int64_t x) const { return p.select(1, x) / q[x]; }
  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw) const override {
    const at::Tensor cumulative = q.index_select(0, rows.select(1, 0).to(at::kLong)).cumsum(1);
    std::vector<at::Tensor> drawn;
    for (std::int64_t draw = first_draw; draw < first_draw + draws; ++draw) {
      const at::Tensor u =
          uniform(key.fold_in(static_cast<std::uint64_t>(draw)), {rows.size(0), 1}, at::kDouble) * (1 - 1e-12);
      drawn.push_back(cumulative.lt(u).sum(1, /*keepdim=*/true).clamp_max(2).to(at::kDouble));
    }
    return score(parameters, rows, {at::stack(drawn, 1)});
  }
  [[nodiscard]] Trace score(const Moments&, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override {
    const at::Tensor h = latents[0].select(2, 0).to(at::kLong), x = rows.to(at::kLong).expand_as(h);
    return {.latents = latents, .log_p = {p.index({h, x}).log()}, .log_q = {q.index({x, h}).log()}};
  }
  [[nodiscard]] Dream dream(const Moments&, std::int64_t count, const Key& key) const override {
    const at::Tensor cell =
        at::searchsorted(p.reshape({-1}).cumsum(0), uniform(key, {count}, at::kDouble), false, true).clamp_max(11);
    const at::Tensor x = cell.remainder(4).to(at::kDouble).unsqueeze(1);
    return {.visible = x, .means = x, .latents = {cell.div(4, "floor").to(at::kDouble).unsqueeze(1)}};
  }
};

// E_Q log p̂_2 and E_P log p̂_2 of the state x, by enumeration of both draws.
double low_of_two(const TableModel& model, std::int64_t x) {
  const at::Tensor w = model.weight(x), each = ((w.unsqueeze(0) + w.unsqueeze(1)) / 2).log();
  return (each * model.q[x].unsqueeze(0) * model.q[x].unsqueeze(1)).sum().item<double>();
}
double high_of_two(const TableModel& model, std::int64_t x) {
  const at::Tensor w = model.weight(x), each = ((w.unsqueeze(0) + w.unsqueeze(1)) / 2).log();
  const at::Tensor posterior = model.p.select(1, x) / model.p.select(1, x).sum();
  return (each * model.q[x].unsqueeze(0) * posterior.unsqueeze(1)).sum().item<double>();
}

// Var(w)/p(x)² of one draw of every row, by quadrature.
at::Tensor relative_variance(const Vae& vae, const at::Tensor& rows) {
  const support::Grid nodes = support::grid(vae.structure().latent);
  const at::Tensor log_joint = support::log_joint(vae, rows, nodes.points);
  const at::Tensor log_q = vae.score(vae.parameters(), rows, {nodes.points.expand({rows.size(0), -1, -1})}).log_q[0];
  const at::Tensor log_square = at::logsumexp(2 * log_joint - log_q, 1) + nodes.log_volume;
  return (log_square - 2 * quadrature_log_p(vae, rows)).exp() - 1;
}

// ---- the lower side

TEST(ImportanceBound, IsTheLogOfTheMeanWeightHoweverDrawsAreSplit) {
  const Vae vae = small_vae(2);
  const at::Tensor rows = all_rows(4).narrow(0, 3, 3);
  // Three rows, 10 000 draws: four pieces. The first block of rows has stream 0.
  const ImportanceBound found = importance_bound(vae, vae.parameters(), rows, 10000, Key(1));
  const at::Tensor log_w = vae.infer(vae.parameters(), rows, 10000, Key(1).fold_in(0)).log_weights();
  expect_close(found.log_p, at::logsumexp(log_w, 1) - std::log(10000.0), 1e-12);
  expect_close(found.effective_draws, log_w.exp().sum(1).square() / (2 * log_w).exp().sum(1), 1e-10);
  // The interval is that of the means of the weights, to first order.
  const at::Tensor noise = log_w.exp().var(1) / log_w.exp().mean(1).square() / 10000;
  EXPECT_NEAR(found.mean.high - found.mean.value, 1.96 * std::sqrt(noise.sum().item<double>()) / 3, 1e-10);
  EXPECT_NEAR(found.mean.value - found.mean.low, found.mean.high - found.mean.value, 1e-12);
  EXPECT_NEAR(found.mean.value, found.log_p.mean().item<double>(), 1e-14);
  EXPECT_EQ(found.mean.kind, EstimateKind::lower_bound);
  EXPECT_EQ(found.mean.method, "importance, 10000 draws");
  const ImportanceBound again = importance_bound(vae, vae.parameters(), rows, 10000, Key(1));
  EXPECT_TRUE(at::equal(again.log_p, found.log_p)) << "same key";
}

TEST(ImportanceBound, OfTwoDrawsHasTheMeanOfEnumeration) {
  const TableModel model;
  for (std::int64_t x = 0; x < 4; ++x) {
    const at::Tensor rows = at::full({20000, 1}, static_cast<double>(x), at::kDouble);
    const ImportanceBound found = importance_bound(model, {}, rows, 2, Key(2));
    support::expect_mean(found.log_p, at::full({}, low_of_two(model, x), at::kDouble));
    EXPECT_LT(low_of_two(model, x), std::log(model.p.select(1, x).sum().item<double>()));
  }
}

TEST(ImportanceBound, RisesToTheLogLikelihoodWithTheNumberOfDraws) {
  for (const std::int64_t latent : {1, 2}) {
    const Vae vae = small_vae(latent);
    const at::Tensor rows = all_rows(4).repeat({500, 1}), truth = quadrature_log_p(vae, all_rows(4));
    at::Tensor before, noise;
    for (const std::int64_t draws : {2, 8, 64}) {
      const at::Tensor found =
          importance_bound(vae, vae.parameters(), rows, draws, Key(3)).log_p.reshape({500, 16}) - truth;
      const at::Tensor mean = found.mean(0), error = (found.var(0) / 500).sqrt();
      // Below the truth, and above fewer draws: each within 5.5 standard errors.
      EXPECT_TRUE(mean.le(5.5 * error).all().item<bool>()) << draws << "\n" << mean << error;
      if (before.defined()) {
        EXPECT_GT(mean.mean().item<double>(), before.mean().item<double>());
      }
      before = mean;
      noise = error;
    }
    // What 64 draws miss is Var(w)/(2·64 p²) to first order, and that variance is an integral; the next order is
    // allowed for by a quarter.
    const at::Tensor missed = relative_variance(vae, all_rows(4)) / 128;
    EXPECT_GT(missed.max().item<double>(), 0.02) << "nothing missed: nothing was tested";
    EXPECT_TRUE((before + missed).abs().le(5.5 * noise + 0.25 * missed).all().item<bool>())
        << before << missed << noise;
    const ImportanceBound many = importance_bound(vae, vae.parameters(), all_rows(4), 20000, Key(4));
    // 1.96 standard errors are the interval: 5.5 of them, with a bias below 2e-4.
    const double half = many.mean.high - many.mean.value;
    EXPECT_NEAR(many.mean.value, truth.mean().item<double>(), 5.5 / 1.96 * half + 2e-4);
    EXPECT_LT(half, 0.01);
  }
}

// 500 repetitions, of which 95 % should cover; what they cover is E log p̂_K, here the mean of them all. Beyond ±0.054
// are 5.5 standard deviations of the share.
TEST(ImportanceBound, CoversItsExpectationAsOftenAsItSays) {
  const Vae vae = small_vae(2);
  const at::Tensor rows = all_rows(4);
  std::vector<Estimate> found;
  double mean = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    found.push_back(importance_bound(vae, vae.parameters(), rows, 100, Key(5).fold_in(i)).mean);
    mean += found.back().value / 500;
  }
  double covered = 0;
  for (const Estimate& one : found) covered += one.low <= mean && mean <= one.high ? 1.0 / 500 : 0;
  EXPECT_NEAR(covered, 0.95, 0.054);
}

TEST(ImportanceBound, HasNoNoiseWhereTheEncoderIsThePosterior) {
  const support::LinearVae linear = support::linear_vae(true);
  const at::Tensor rows = normal(Key(6), {5, 3}, at::kDouble);
  const ImportanceBound found = importance_bound(linear.vae, linear.vae.parameters(), rows, 50, Key(7));
  expect_close(found.log_p, linear.log_p(rows), 1e-12);
  expect_close(found.effective_draws, at::full({5}, 50.0, at::kDouble), 1e-10);
  EXPECT_NEAR(found.mean.high, found.mean.low, 1e-6);
  const OwnDrawBounds own = own_draw_bounds(linear.vae, linear.vae.parameters(), 20, 5, Key(8));
  expect_close(own.upper, own.lower, 1e-12, "nothing between the two sides");
}

TEST(ImportanceBound, GivesEveryBlockOfRowsItsOwnDraws) {
  const Vae vae = small_vae(1);
  const at::Tensor rows = all_rows(4).narrow(0, 5, 1).repeat({1200, 1});
  const at::Tensor log_p = importance_bound(vae, vae.parameters(), rows, 3, Key(9)).log_p;
  ASSERT_EQ(log_p.size(0), 1200);
  EXPECT_EQ(std::get<0>(at::_unique(log_p)).size(0), 1200);
}

TEST(ImportanceBound, KeepsRowsWhoseWeightsAreBeyondDoublePrecision) {
  Vae vae({.visible = "shared_gaussian:3:0.001", .hidden = {}, .latent = 1}, at::kDouble);
  vae.parameters()["visible.shared"].fill_(-30);  // σ = 0.001: log p(x) of x = 1 is near −1.5e6
  const ImportanceBound found = importance_bound(vae, vae.parameters(), at::ones({2, 3}, at::kDouble), 10, Key(10));
  expect_close(found.log_p, at::full({2}, -0.5 * 3e6 + 3 * std::log(1000.0) - 3 * 0.91893853320467, at::kDouble), 1e-9);
}

// ---- both sides, on own draws

TEST(OwnDrawBounds, HaveTheMeansOfEnumeration) {
  const TableModel model;
  const OwnDrawBounds found = own_draw_bounds(model, {}, 20000, 2, Key(11));
  double low = 0, high = 0, truth = 0;
  for (std::int64_t x = 0; x < 4; ++x) {
    const double p = model.p.select(1, x).sum().item<double>();
    EXPECT_LT(low_of_two(model, x), std::log(p));
    EXPECT_GT(high_of_two(model, x), std::log(p)) << "row by row, not only on average";
    low += p * low_of_two(model, x);
    high += p * high_of_two(model, x);
    truth += p * std::log(p);
  }
  support::expect_mean(found.lower, at::full({}, low, at::kDouble));
  support::expect_mean(found.upper, at::full({}, high, at::kDouble));
  support::expect_mean(found.upper - found.lower, at::full({}, high - low, at::kDouble));
  EXPECT_LT(low, truth);
  EXPECT_GT(high, truth);
  EXPECT_EQ(found.lower_bound.kind, EstimateKind::lower_bound);
  EXPECT_EQ(found.upper_bound.kind, EstimateKind::upper_bound);
}

TEST(OwnDrawBounds, BracketTheTruthAndCloseWithTheNumberOfDraws) {
  for (const std::int64_t latent : {1, 2}) {
    const Vae vae = small_vae(latent);
    const at::Tensor log_p = quadrature_log_p(vae, all_rows(4));
    const double truth = (log_p.exp() * log_p).sum().item<double>();
    double gap = 100;
    for (const std::int64_t draws : {1, 5, 50}) {
      SCOPED_TRACE(format("{} latents, {} draws", latent, draws));
      const OwnDrawBounds found = own_draw_bounds(vae, vae.parameters(), 4000, draws, Key(12));
      const auto error = [](const at::Tensor& x) { return std::sqrt(x.var().item<double>() / 4000); };
      EXPECT_LT(found.lower_bound.value, truth + 5.5 * error(found.lower));
      EXPECT_GT(found.upper_bound.value, truth - 5.5 * error(found.upper));
      EXPECT_NEAR(found.gap(), (found.upper - found.lower).mean().item<double>(), 1e-12);
      EXPECT_LT(found.gap_interval.low, found.gap());
      EXPECT_GT(found.gap_interval.high, found.gap());
      EXPECT_GT(found.gap(), 0);
      EXPECT_LT(found.gap(), gap);
      gap = found.gap();
    }
    EXPECT_LT(gap, 0.03);
  }
}

TEST(OwnDrawBounds, AreFunctionsOfTheirKey) {
  const Vae vae = small_vae(2);
  const OwnDrawBounds one = own_draw_bounds(vae, vae.parameters(), 600, 3, Key(14));
  const OwnDrawBounds same = own_draw_bounds(vae, vae.parameters(), 600, 3, Key(14));
  EXPECT_TRUE(at::equal(one.lower, same.lower));
  EXPECT_TRUE(at::equal(one.upper, same.upper));
  EXPECT_EQ(one.gap_interval.low, same.gap_interval.low);
  EXPECT_FALSE(at::equal(one.lower, own_draw_bounds(vae, vae.parameters(), 600, 3, Key(15)).lower));
}

TEST(ImportanceBound, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const Vae vae = small_vae(1);
  const Moments& p = vae.parameters();
  expect_mentions(message_of([&] { (void)importance_bound(vae, p, all_rows(4), 1, Key(1)); }), {"two draws", "1"});
  expect_mentions(message_of([&] { (void)importance_bound(vae, p, all_rows(4).narrow(0, 0, 0), 5, Key(1)); }),
                  {"rows"});
  expect_mentions(message_of([&] { (void)own_draw_bounds(vae, p, 1, 5, Key(1)); }), {"two rows", "1"});
  expect_mentions(message_of([&] { (void)own_draw_bounds(vae, p, 5, 0, Key(1)); }), {"draw", "0"});
}

}  // namespace
}  // namespace harmonium
