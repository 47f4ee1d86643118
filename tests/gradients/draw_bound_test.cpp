#include "harmonium/gradients/objectives/draw_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/gradients/objectives/path_objective.h"
#include "tests/support/draw.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;
using support::small_draw_net;

at::Tensor row_bounds_of_draw(const ElboTerms& terms) {
  at::Tensor bound = terms.log_likelihood;
  for (const at::Tensor& each : terms.kl) bound = bound - each.sum(1);
  return bound;
}

// L_1 by the trapezoid rule over the latents, q log w: no closed form is used. Draws: false alarms as in statistics.h.
TEST(DrawBound, HasTheBoundByQuadratureAsItsMean) {
  for (const std::int64_t steps : {1, 2})
    for (const bool attention : {false, true}) {
      const DrawNet net = small_draw_net(steps, attention);
      const at::Tensor rows = all_rows(4);
      const support::Grid nodes = support::grid(steps);
      std::vector<at::Tensor> axes;
      for (const at::Tensor& axis : nodes.points.split(1, 1)) axes.push_back(axis.expand({16, -1, -1}));
      const Trace trace = net.score(net.parameters(), rows, axes);
      at::Tensor log_q = trace.log_q.front() + nodes.log_volume;
      for (std::size_t t = 1; t < trace.log_q.size(); ++t) log_q = log_q + trace.log_q[t];
      expect_close(at::logsumexp(log_q, 1), at::zeros({16}, at::kDouble), 1e-8);  // q lies within the grid
      const at::Tensor bound = (log_q.exp() * trace.log_weights()).sum(1);
      EXPECT_GT((support::quadrature_log_p(net, rows) - bound).min().item<double>(), 0.003);
      const ElboTerms terms = draw_terms(net, net.parameters(), rows.repeat({4000, 1}), Key(1));
      ASSERT_EQ(terms.kl.size(), static_cast<std::size_t>(steps));
      support::expect_mean(row_bounds_of_draw(terms).reshape({4000, 16}), bound);
    }
}

TEST(DrawBound, IsMadeOfTheFirstDrawOfInference) {
  const DrawNet net = small_draw_net(2, true);
  const at::Tensor rows = all_rows(4);
  const ElboTerms terms = draw_terms(net, net.parameters(), rows, Key(2));
  const Trace trace = net.infer(net.parameters(), rows, 1, Key(2));
  expect_close(terms.log_likelihood, trace.log_p[0].select(1, 0), 1e-13);
  for (std::int64_t row = 0; row < 16; ++row) {
    std::vector<std::vector<double>> z;
    for (const at::Tensor& each : trace.latents) z.push_back({each[row][0][0].item<double>()});
    const at::Tensor values = rows[row].contiguous();
    const support::PlainDraw::Logs plain =
        support::PlainDraw(net).score({values.data_ptr<double>(), values.data_ptr<double>() + 4}, z);
    for (std::size_t t = 0; t < 2; ++t) EXPECT_NEAR(terms.kl[t][row].sum().item<double>(), plain.kl[t], 1e-12);
  }
  expect_close(terms.bound(), row_bounds_of_draw(terms).mean(), 1e-13);
}

// Of what is shown, with the same noise.
TEST(DrawBound, HasTheGradientOfDifferencesThroughAllSteps) {
  for (const bool attention : {false, true})
    for (const char* objective : {"elbo", "path:2", "plain_iwae:3"}) {
      SCOPED_TRACE(objective);
      const DrawNet net = small_draw_net(2, attention);
      const at::Tensor rows = all_rows(4).narrow(0, 3, 4);
      const auto value = [&](const Moments& parameters) {
        if (std::string(objective) == "elbo") return draw_terms(net, parameters, rows, Key(3)).bound();
        return PathObjective(objective).estimate(net, parameters, rows, Key(3)).climbed;
      };
      const Moments leaves = net.parameters().map([](const at::Tensor& each) { return each.clone().requires_grad_(); });
      value(leaves).backward();
      for (const auto& [name, tensor] : net.parameters().entries()) {
        ASSERT_TRUE(leaves[name].grad().defined()) << name;
        at::Tensor flat = tensor.view({-1});
        const at::Tensor slopes = leaves[name].grad().reshape({-1});
        for (std::int64_t i = 0; i < flat.size(0); ++i) {
          constexpr double h = 1e-5;
          const double before = flat[i].item<double>();
          const auto moved = [&](double to) {
            flat[i] = to;
            return value(net.parameters()).item<double>();
          };
          const double slope = (moved(before + h) - moved(before - h)) / (2 * h);
          flat[i] = before;
          EXPECT_NEAR(slopes[i].item<double>(), slope, 1e-8 * (1 + std::abs(slope))) << name << " " << i;
        }
      }
    }
}

// What stops at a held draw scores it again, with detached latents and with detached parameters: the same mean.
// 2 × 88 numbers at 5.5 standard errors: false alarms 1e-5.
TEST(DrawBound, HasTheSameMeanGradientHoweverItIsEstimated) {
  const DrawNet net = small_draw_net(2, false);
  const at::Tensor rows = all_rows(4).narrow(0, 6, 2);
  const auto gradients = [&](const char* objective, std::uint64_t seed) {
    std::vector<at::Tensor> all;
    for (std::uint64_t i = 0; i < 600; ++i) {
      const Moments leaves = net.parameters().map([](const at::Tensor& each) { return each.clone().requires_grad_(); });
      PathObjective(objective).estimate(net, leaves, rows, Key(seed).fold_in(i)).climbed.backward();
      all.push_back(leaves.map([](const at::Tensor& leaf) { return leaf.grad(); }).flatten());
    }
    return at::stack(all);
  };
  for (const auto& [one, other] : {std::pair{"stick:1", "path:1"}, std::pair{"iwae:3", "plain_iwae:3"}})
    support::expect_mean(gradients(one, 4) - gradients(other, 5),
                         at::zeros({net.parameters().dimension()}, at::kDouble), one);
}

// What all of this is for: climbing the bound raises log p(x), which quadrature knows.
TEST(DrawBound, TeachesANetItsData) {
  DrawNet net({.visible = "bernoulli:4", .height = 2, .width = 2, .steps = 2, .latent = 1, .hidden = 12}, at::kDouble);
  const at::Tensor rows = all_rows(4).index_select(0, at::tensor({0, 3, 12, 15}, at::kLong));  // pairs of equal pixels
  initialize(net, Key(10), rows.mean(0));
  const auto log_p = [&] { return support::quadrature_log_p(net, rows).mean().item<double>(); };
  EXPECT_NEAR(log_p(), 4 * std::log(0.5), 0.3) << "independent pixels";
  const at::Tensor batch = rows.repeat({10, 1});
  for (std::uint64_t update = 0; update < 2000; ++update) {
    const Moments leaves = net.parameters().map([](const at::Tensor& each) { return each.clone().requires_grad_(); });
    draw_terms(net, leaves, batch, Key(11).fold_in(update)).bound().backward();
    net.parameters().add_(leaves.map([](const at::Tensor& leaf) { return leaf.grad(); }), 0.5);
  }
  // The best is log ¼ = −1.39. Who knows one of the two pairs is at −2.08, who knows none at −2.77.
  EXPECT_GT(log_p(), -1.9);
}

TEST(DrawBound, NeedsRows) {
  const DrawNet net = small_draw_net(1, false);
  support::expect_mentions(
      support::message_of([&] { (void)draw_terms(net, net.parameters(), all_rows(4).narrow(0, 0, 0), Key(1)); }),
      {"at least one row"});
}

}  // namespace
}  // namespace harmonium
