#include "harmonium/gradients/objectives/ladder_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/gradients/objectives/path_objective.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::expect_close;

Ladder ladder_of(const LadderStructure& structure, double scale = 0.5) {
  Ladder ladder(structure, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : ladder.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(8).fold_in(i++), value.sizes(), at::kDouble));
  return ladder;
}

LadderStructure dense_ladder() { return {.visible = "bernoulli:4", .latent = {2, 1}, .channels = 3}; }

LadderStructure picture_ladder() {
  return {.visible = "bernoulli:16", .height = 4, .width = 4, .latent = {2, 1}, .scales = {0, 1}, .channels = 3};
}

at::Tensor rows_of(const Ladder& ladder, std::int64_t count) {
  return uniform(Key(4), {count, ladder.visible().width()}, at::kDouble).gt(0.5).to(at::kDouble);
}

Moments leaves_of(const Ladder& ladder) {
  return ladder.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
}

// The one-draw bound with its KL in closed form, and the mean of log-weights, estimate the same number. False alarms
// 1e-7.
TEST(LadderBound, HasTheMeanOfLogWeights) {
  const Ladder ladder = ladder_of(dense_ladder());
  const at::Tensor rows = rows_of(ladder, 6).repeat({4000, 1});
  const LadderTerms terms = ladder_terms(ladder, ladder.parameters(), rows, Key(1));
  const Trace trace = ladder.infer(ladder.parameters(), rows, 1, Key(1));
  expect_close(terms.log_likelihood, trace.log_p[0].select(1, 0), 1e-12);  // made of the first draw
  const at::Tensor closed = terms.log_likelihood - terms.kl[0] - terms.kl[1];
  support::expect_mean((closed - trace.log_weights().select(1, 0)).reshape({4000, 6}), at::zeros({6}, at::kDouble));
  expect_close(terms.bound(), closed.mean(), 1e-12);
}

TEST(LadderBound, CountsFreeNatsForEveryLevelAndTheWarmUpForAll) {
  const Ladder ladder = ladder_of(dense_ladder());
  const LadderTerms terms = ladder_terms(ladder, ladder.parameters(), rows_of(ladder, 9), Key(2));
  const double likelihood = terms.log_likelihood.mean().item<double>();
  const double first = terms.kl[0].mean().item<double>(), second = terms.kl[1].mean().item<double>();
  const double low = std::min(first, second), high = std::max(first, second);
  ASSERT_LT(low, high);
  const double between = (low + high) / 2;
  EXPECT_NEAR(terms.objective({.beta = 0.3, .free_nats = between}).item<double>(), likelihood - 0.3 * (between + high),
              1e-12);
  EXPECT_NEAR(terms.objective({.beta = 0.3}).item<double>(), likelihood - 0.3 * (first + second), 1e-12);
  EXPECT_NEAR(terms.bound().item<double>(), likelihood - first - second, 1e-12);
}

TEST(LadderBound, HasTheGradientOfItsFiniteDifferencesForEveryParameter) {
  for (const LadderStructure& shape : {dense_ladder(), picture_ladder()}) {
    const Ladder ladder = ladder_of(shape, 0.3).dropping(0.2, Key(3));
    const at::Tensor rows = rows_of(ladder, 7);
    const ElboOptions options{.beta = 0.7, .free_nats = 0.01};
    const auto climbed = [&](const Moments& parameters) {
      return ladder_terms(ladder, parameters, rows, Key(8)).objective(options);
    };
    const Moments leaves = leaves_of(ladder);
    climbed(leaves).backward();
    constexpr double step = 1e-5;
    for (std::uint64_t i = 0; const auto& [name, value] : ladder.parameters().entries()) {
      const at::Tensor direction = normal(Key(9).fold_in(i++), value.sizes(), at::kDouble);
      const auto moved = [&](double by) {
        Moments other = ladder.parameters().clone();
        other[name].add_(direction, by);
        return climbed(other).item<double>();
      };
      const double slope = (leaves[name].grad() * direction).sum().item<double>();
      EXPECT_NE(slope, 0) << name;
      EXPECT_NEAR(slope, (moved(step) - moved(-step)) / (2 * step), 1e-6 * (1 + std::abs(slope))) << name;
    }
  }
}

// θ is part of q, since both passes share their states. iwae:2 leaves out what has mean zero; plain_iwae:2 does not.
// Along six directions, 60 pairs of gradients by the same draws: at 5.5 standard errors of so many, false alarms below
// 1e-5.
TEST(LadderBound, IsClimbedByTheDoublyReparametrizedGradientOfManyDraws) {
  const Ladder ladder = ladder_of(dense_ladder());
  const at::Tensor rows = rows_of(ladder, 4).repeat({50, 1});
  const auto gradient = [&](const char* objective, std::uint64_t key) {
    const Moments leaves = leaves_of(ladder);
    PathObjective(objective).estimate(ladder, leaves, rows, Key(key)).climbed.backward();
    return leaves.map([](const at::Tensor& leaf) { return leaf.grad(); }).flatten();
  };
  const at::Tensor directions = normal(Key(1), {ladder.parameters().dimension(), 6}, at::kDouble);
  std::vector<at::Tensor> differences;
  for (std::uint64_t key = 0; key < 60; ++key)
    differences.push_back((gradient("iwae:2", key) - gradient("plain_iwae:2", key)).matmul(directions));
  const at::Tensor all = at::stack(differences);
  EXPECT_GT(all.abs().max().item<double>(), 1e-3) << "the two are the same: nothing was tested";
  support::expect_mean(all, at::zeros({6}, at::kDouble));
}

TEST(LadderBound, IsTheSameNumberForManyRowsWhoseUnitsAreCounted) {
  Ladder ladder = ladder_of(dense_ladder());
  const at::Tensor rows = rows_of(ladder, 450);
  const LadderFindings found = ladder_findings(ladder, ladder.parameters(), rows, Key(5));
  double bound = 0;
  std::vector<at::Tensor> means;
  for (const std::int64_t first : {0, 200, 400}) {
    const at::Tensor part = rows.narrow(0, first, first == 400 ? 50 : 200);
    const Key key = Key(5).fold_in(static_cast<std::uint64_t>(first));
    bound += ladder_terms(ladder, ladder.parameters(), part, key).bound().item<double>() *
             static_cast<double>(part.size(0)) / 450;
    const LadderWalk walk = ladder.walk(ladder.parameters(), part, 1, ladder.posterior_draws(key, 1));
    means.push_back(walk.levels[0].posterior.narrow(1, 0, 2));
  }
  EXPECT_NEAR(found.bound, bound, 1e-11);
  EXPECT_EQ(found.active[0], at::cat(means).var(0).gt(0.01).sum().item<std::int64_t>());
  EXPECT_GT(found.active[0] + found.active[1], 0);
  EXPECT_GT(found.kl[0], 0);
  for (const char* name : {"level1.posterior.weights", "level1.posterior.bias"}) ladder.parameters()[name].zero_();
  const LadderFindings without = ladder_findings(ladder, ladder.parameters(), rows, Key(5));
  EXPECT_EQ(without.active[0], 0);
  EXPECT_EQ(without.kl[0], 0);
}

}  // namespace
}  // namespace harmonium
