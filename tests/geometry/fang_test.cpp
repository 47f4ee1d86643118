#include "harmonium/geometry/fang.h"

#include <gtest/gtest.h>

#include "harmonium/geometry/exact_metric.h"
#include "tests/geometry/support.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::randomized;

const MetricOptions undamped{.damping = 0, .statistics_every = 1};

Fang fitted(const BoltzmannMachine& machine, const MetricOptions& options = undamped,
            FangParents parents = FangParents::own) {
  Fang metric(machine.topology(), machine.parameters(), options, parents);
  const auto statistics = enumerated(machine);
  metric.observe({statistics->mean(), statistics->mean(), statistics});
  metric.refit();
  return metric;
}

at::Tensor fisher_of(const BoltzmannMachine& machine) { return exact_fisher(machine).covariance; }

// Where binary units form a tree, a product's residual has mean zero given either of its units, so it is uncorrelated
// with every other statistic: the graphical model is exact.
TEST(Fang, IsTheExactNaturalGradientWhereTheUnitsFormATree) {
  const auto one = make_unit("bernoulli:1");
  const std::vector<BoltzmannMachine> trees = {
      make_rbm("bernoulli:1", "bernoulli:1", at::kDouble),
      make_rbm("bernoulli:5", "bernoulli:1", at::kDouble),
      make_chain({"bernoulli:1", "bernoulli:1", "bernoulli:1", "bernoulli:1"}, at::kDouble),
      BoltzmannMachine({{"a", make_unit("bernoulli:2"), true}, {"b", make_unit("bernoulli:3"), true}, {"hub", one}},
                       {{"a", "hub"}, {"hub", "b"}}, at::kDouble),
  };
  for (std::uint64_t seed = 100; const BoltzmannMachine& shape : trees) {
    const BoltzmannMachine machine = randomized(shape, seed++);
    Fang metric = fitted(machine);
    EXPECT_TRUE(metric.take_notes().empty());
    const at::Tensor fisher = fisher_of(machine);
    expect_close(metric.to_dense(), fisher, 1e-12);
    const Moments gradient = random_like(machine.parameters(), 101);
    ExactMetric exact(machine.topology(), machine.parameters(), undamped);
    const auto statistics = enumerated(machine);
    exact.observe({statistics->mean(), statistics->mean(), statistics});
    exact.refit();
    expect_close(metric.solve(gradient).total(), exact.solve(gradient).total(), 1e-9);
  }
  const BoltzmannMachine loops = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 102);
  EXPECT_GT((fitted(loops).to_dense() - fisher_of(loops)).abs().max().item<double>(), 1e-3) << "loops are not trees";
}

// Maximum likelihood: it keeps the covariance of the units, and of each product with itself and its parents.
TEST(Fang, KeepsTheCovarianceOfUnitsAndOfEveryProductWithItsParents) {
  for (const support::MachineCase& one : metric_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    // Softmax groups sum to one, so their covariance is singular; a trace of damping on both sides.
    constexpr double damping = 1e-6;
    Fang metric = fitted(machine, {.damping = damping, .centered_damping = false, .statistics_every = 1});
    at::Tensor fisher = fisher_of(machine).clone();
    fisher.diagonal().add_(damping);
    const at::Tensor dense = metric.to_dense(),
                     factors = StatisticIndex(machine.topology(), machine.parameters()).factors();
    const StatisticIndex index(machine.topology(), machine.parameters());
    for (std::int64_t m = 0; m < index.dimension(); ++m) {
      EXPECT_NEAR(dense[m][m].item<double>(), fisher[m][m].item<double>(), 1e-8);
      for (std::int64_t which = 0; which < 2; ++which) {
        const auto parent = factors[m][which].item<std::int64_t>();
        if (parent == 0) continue;
        const auto place = index.unary_places()[parent - 1].item<std::int64_t>();
        EXPECT_NEAR(dense[m][place].item<double>(), fisher[m][place].item<double>(), 1e-8) << m << " " << place;
      }
    }
  }
}

// The closed form for binary units against the moment regressions that other units need.
TEST(Fang, AgreesWithMomentRegressionsOnBinaryUnits) {
  const BoltzmannMachine machine =
      randomized(make_classification_rbm("bernoulli:4", 3, "bernoulli:3", at::kDouble), 103);
  Topology pretended = machine.topology();
  for (LayerInfo& layer : pretended.layers) layer.indicator = false;
  const auto statistics = enumerated(machine);
  const MetricOptions options{.damping = 0.01, .statistics_every = 1};
  Fang closed(machine.topology(), machine.parameters(), options), regressed(pretended, machine.parameters(), options);
  for (Fang* metric : {&closed, &regressed}) {
    metric->observe({statistics->mean(), statistics->mean(), statistics});
    metric->refit();
  }
  expect_close(closed.to_dense(), regressed.to_dense(), 1e-12);
}

TEST(Fang, DampsCenteredProductsOrPlainOnesAndWithoutDampingItIsAllTheSame) {
  const BoltzmannMachine machine = randomized(make_rbm("gaussian:2", "bernoulli:3", at::kDouble), 115);
  const auto dense = [&](double damping, bool centered) {
    return fitted(machine, {.damping = damping, .centered_damping = centered, .statistics_every = 1}).to_dense();
  };
  expect_close(dense(0, true), dense(0, false), 1e-10);
  EXPECT_GT((dense(0.1, true) - dense(0.1, false)).abs().max().item<double>(), 1e-3);
}

TEST(Fang, IsTheFormulaOfThePaperOnABinaryRbm) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 104);
  const double damping = 0.05;
  const Fang metric = fitted(machine, {.damping = damping, .centered_damping = false, .statistics_every = 1});
  const Moments s = exact_fisher(machine).mean, gradient = random_like(machine.parameters(), 105);
  const at::Tensor fisher = fisher_of(machine);
  const at::Tensor unary = fisher.narrow(0, 0, 7).narrow(1, 0, 7) + damping * at::eye(7, at::kDouble);
  const at::Tensor d = at::cat({gradient["visible.bias"], gradient["hidden.bias"]});
  at::Tensor step = at::linalg_inv(unary).mv(d);
  at::Tensor weights = at::zeros({4, 3}, at::kDouble);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const double p = s["visible.bias"][i].item<double>(), q = s["hidden.bias"][j].item<double>(),
                   r = s["visible_hidden.weights"][i][j].item<double>();
      const double a = p * (1 - p) + damping, e = q * (1 - q) + damping, c = r - p * q, f = r * (1 - p),
                   g = r * (1 - q);
      const double det = a * e - c * c, alpha = (e * f - c * g) / det, beta = (a * g - c * f) / det;
      const double variance = r * (1 - r) + damping - alpha * f - beta * g;
      const double change =
          ((gradient["visible_hidden.weights"][i][j] - alpha * d[i] - beta * d[4 + j]) / variance).item<double>();
      weights[i][j] = change;
      step[i] -= alpha * change;
      step[4 + j] -= beta * change;
    }
  const Moments solved = metric.solve(gradient).total();
  expect_close(solved["visible_hidden.weights"], weights, 1e-10);
  expect_close(at::cat({solved["visible.bias"], solved["hidden.bias"]}), step, 1e-10);
  // The bias rate multiplies the Σ_u⁻¹ term and nothing else.
  const Direction parts = metric.solve(gradient);
  expect_close(at::cat({parts.unary["visible.bias"], parts.unary["hidden.bias"]}), at::linalg_inv(unary).mv(d), 1e-10);
}

// A unit's meaning turned round, v → 1 − v, maps statistics affinely and parents to themselves.
TEST(Fang, ChangesTheDistributionTheSameWhateverAUnitsValuesMeanUnlessDampedAsPublished) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 106);
  // g' = T g + c for v_1 → 1 − v_1, so a direction of parameters transforms by T⁻ᵀ and a gradient by T.
  at::Tensor t = at::eye(19, at::kDouble);
  t[1][1] = -1;
  for (std::int64_t j = 0; j < 3; ++j) {
    const std::int64_t product = 7 + 1 * 3 + j;
    t[product][product] = -1;
    t[product][4 + j] = 1;
  }
  const ExactFisher fisher = exact_fisher(machine);
  Moments turned_parameters = machine.parameters().unflatten(at::linalg_inv(t).t().mv(machine.parameters().flatten()));
  const BoltzmannMachine turned = machine.with_parameters(turned_parameters);
  expect_close(exact_fisher(turned).covariance, t.mm(fisher.covariance).mm(t.t()), 1e-12);
  const Moments gradient = random_like(machine.parameters(), 107);
  const auto error = [&](const MetricOptions& options) {
    const at::Tensor direction = fitted(machine, options).solve(gradient).total().flatten();
    const at::Tensor turned_direction =
        fitted(turned, options).solve(gradient.unflatten(t.mv(gradient.flatten()))).total().flatten();
    return ((t.t().mv(turned_direction) - direction).abs().max() / direction.abs().max()).item<double>();
  };
  EXPECT_LT(error(undamped), 1e-10);
  EXPECT_LT(error({.damping = 0.1, .statistics_every = 1}), 1e-10);
  EXPECT_GT(error({.damping = 0.1, .centered_damping = false, .statistics_every = 1}), 1e-3);
}

TEST(Fang, AveragesWhatItObservesOverItsTimeScale) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 108);
  Fang metric(machine.topology(), machine.parameters(), {.time_scale = 40, .statistics_every = 10});
  const auto first = particles_of(machine, 30, 109), second = particles_of(machine, 30, 110);
  for (const auto& statistics : {first, second}) metric.observe({statistics->mean(), statistics->mean(), statistics});
  expect_close(find_tensor(metric.state(), "mean", "test"), 0.75 * first->unary_mean() + 0.25 * second->unary_mean(),
               1e-14);
  expect_close(find_tensor(metric.state(), "second_moment", "test"),
               0.75 * first->unary_second_moment() + 0.25 * second->unary_second_moment(), 1e-14);
  EXPECT_EQ(metric.cadence().observe_every, 10);
  EXPECT_EQ(metric.cadence().refit_every, 100);
}

// Second moments that belong to no distribution, as rounding can leave them.
class Impossible final : public ModelStatistics {
 public:
  Impossible(const ModelStatistics& from, double shift) : from_(from), shift_(shift) {}
  [[nodiscard]] at::Tensor unary_mean() const override { return from_.unary_mean(); }
  [[nodiscard]] at::Tensor unary_second_moment() const override {
    const at::Tensor second = from_.unary_second_moment();
    return second - shift_ * at::eye(second.size(0), at::kDouble);
  }
  [[nodiscard]] ProductMoments product_moments(std::size_t edge) const override { return from_.product_moments(edge); }
  [[nodiscard]] at::Tensor product_moment_with(std::size_t edge, const at::Tensor& places) const override {
    return from_.product_moment_with(edge, places);
  }
  [[nodiscard]] Moments mean() const override { return from_.mean(); }
  [[nodiscard]] Moments mean_square() const override { return from_.mean_square(); }
  [[nodiscard]] at::Tensor covariance(const at::Tensor& places) const override { return from_.covariance(places); }
  [[nodiscard]] Moments covariance_product(const Moments& d) const override { return from_.covariance_product(d); }
  [[nodiscard]] Eigenpairs leading_eigenpairs(std::int64_t count) const override {
    return from_.leading_eigenpairs(count);
  }

 private:
  const ModelStatistics& from_;
  double shift_;
};

TEST(Fang, DampsMoreAndSaysSoWhereACovarianceIsNotPositiveDefinite) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 111);
  const auto good = enumerated(machine);
  Fang metric(machine.topology(), machine.parameters(), {.damping = 0.01, .statistics_every = 1});
  metric.observe({good->mean(), good->mean(), std::make_shared<Impossible>(*good, 0.4)});
  metric.refit();
  const std::vector<std::string> notes = metric.take_notes();
  ASSERT_EQ(notes.size(), 1U);
  support::expect_mentions(notes[0], {"fang", "not positive definite", "0.01", "1 was used"});
  EXPECT_TRUE(metric.take_notes().empty()) << "said twice";
  const Moments gradient = random_like(machine.parameters(), 112);
  EXPECT_GT(dot(gradient, metric.solve(gradient).total()), 0) << "still an ascent direction";
}

TEST(Fang, FailsWithAdviceWhenUnitsAreNotFinite) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 113);
  const auto good = enumerated(machine);
  Fang metric(machine.topology(), machine.parameters());
  metric.observe({good->mean(), good->mean(), std::make_shared<Impossible>(*good, std::nan(""))});
  EXPECT_THROW(metric.refit(), RunFailure);
}

TEST(FangWithRandomParents, HasAsManyParametersAndDiffersWithItsSeed) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 114);
  const MetricOptions options{.damping = 1e-6, .statistics_every = 1, .seed = 1};
  MetricOptions other = options;
  other.seed = 2;
  const Fang own = fitted(machine, options), one = fitted(machine, options, FangParents::random),
             again = fitted(machine, options, FangParents::random), two = fitted(machine, other, FangParents::random);
  EXPECT_EQ(one.parameter_count(), own.parameter_count());
  EXPECT_EQ(own.parameter_count(), 7 * 8 / 2 + 3 * 12);
  EXPECT_TRUE(at::equal(one.to_dense(), again.to_dense()));
  EXPECT_FALSE(at::equal(one.to_dense(), two.to_dense()));
}

}  // namespace
}  // namespace harmonium
