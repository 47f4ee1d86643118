// The spike-and-slab RBM: against differences, enumeration, quadrature, and the machine of gaussian and spike_slab
// units that it is without penalties.
#include "harmonium/models/free_energy/spike_slab_model.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/free_energy_annealing.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/training/objectives/energy_contrast.h"
#include "harmonium/training/training.h"
#include "tests/support/energy_checks.h"
#include "tests/support/spike_slab.h"

namespace harmonium {
namespace {

using support::KnownSsrbm;
using support::largest_of;
using support::rows_of_values;
using support::SpikeSlabCase;
using support::Square;

class EverySpikeSlabModel : public testing::TestWithParam<SpikeSlabCase> {
 protected:
  SpikeSlabModel model_{GetParam().structure};
  Moments theta_ = support::random_spike_slab(model_, 3);
};

TEST_P(EverySpikeSlabModel, HasTheGradientsOfItsLogDensity) { support::expect_gradients(model_, theta_); }

TEST_P(EverySpikeSlabModel, StartsItsPathAtTheGaussianItDrawsFrom) {
  const at::Tensor v = rows_of_values(3), precision = theta_["visible.log_precision"].exp();
  const at::Tensor mean = theta_["visible.bias"] / precision;
  const at::Tensor expected = (-0.5 * precision * (v - mean).square() + 0.5 * (precision / (2 * M_PI)).log()).sum(1);
  EXPECT_LT(largest_of(model_.log_f(v, theta_, 0) - model_.base_log_z(theta_) - expected), 1e-12);
  const at::Tensor draws = (model_.base_draws(theta_, Key(5), 4000) - mean) * precision.sqrt();
  // Means and variances within five standard errors: false alarms 4·10⁻⁶ for all six.
  EXPECT_LT(largest_of(draws.mean(0)), 5 / std::sqrt(4000.0));
  EXPECT_LT(largest_of(draws.square().mean(0) - 1), 5 * std::sqrt(2.0 / 4000));
}

TEST_P(EverySpikeSlabModel, GroupsItsParametersOnceAndHasFeaturesOfItsUnits) {
  support::expect_grouped_once(model_, theta_);
  const auto features = model_.features(rows_of_values(3), theta_);
  ASSERT_EQ(features.size(), 2U);
  for (const auto& [name, values] : features) EXPECT_EQ(values.sizes(), (std::vector<std::int64_t>{5, 4})) << name;
}

// Whatever a step does to the parameters: every state of the spikes leaves a positive definite precision.
TEST_P(EverySpikeSlabModel, IsBroughtBackToWhereEveryStateIsDefinite) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Moments theta = support::random_spike_slab(model_, seed);
    theta["visible_hidden.weights"].mul_(20);
    if (theta.contains("penalty.weights")) theta["penalty.weights"].sub_(1);
    EXPECT_NE(model_.complaint(theta), "");
    EXPECT_THROW((void)model_.exact_log_z(theta), Error);
    model_.constrain_(theta);
    EXPECT_EQ(model_.complaint(theta), "");
    EXPECT_NO_THROW((void)model_.exact_log_z(theta)) << "a Cholesky factorization of every state";
    EXPECT_LT(model_.measures(theta).at("definite_strength"), 1);
    const at::Tensor v = rows_of_values(3), before = model_.log_f(v, theta);
    model_.constrain_(theta);
    EXPECT_LT(largest_of(model_.log_f(v, theta) - before), 1e-6) << "once is enough";
  }
}

// Unit columns of W are another way to write the same density.
TEST_P(EverySpikeSlabModel, KeepsItsDensityWhereItsColumnsAreScaled) {
  Moments theta = theta_.clone();
  const at::Tensor scale = at::tensor({0.5, 2.0, 1.0, 1.5}, at::kDouble);
  theta["visible_hidden.weights"].mul_(scale);
  theta["hidden.mean"].div_(scale);
  theta["hidden.log_precision"].add_(2 * scale.log());
  const at::Tensor v = rows_of_values(3), before = model_.log_f(v, theta_);
  EXPECT_LT(largest_of(model_.log_f(v, theta) - before), 1e-12);
  model_.constrain_(theta);
  EXPECT_LT(largest_of(theta["visible_hidden.weights"].norm(2, 0) - 1), 1e-12);
  EXPECT_LT(largest_of(model_.log_f(v, theta) - before), 1e-12);
}

TEST_P(EverySpikeSlabModel, ImpliesTheCovarianceOfUnitsThatAreOnAround) {
  theta_["hidden.bias"].copy_(at::tensor({80.0, -80.0, 80.0, 80.0}, at::kDouble));
  support::expect_curvature(model_, theta_, rows_of_values(3).narrow(0, 0, 1));
}

INSTANTIATE_TEST_SUITE_P(All, EverySpikeSlabModel, testing::ValuesIn(support::spike_slab_cases(3, 4)),
                         [](const auto& one) { return one.param.name; });

TEST(SpikeSlabModel, KnownFromElsewhereHasItsLogZ) {
  const KnownSsrbm known;
  EXPECT_NEAR(known.model.exact_log_z(known.theta), 2.684063, 5e-7);
  EXPECT_NEAR(Square{}.log_integral(known.model, known.theta), 2.684063, 5e-7);
  EXPECT_NEAR(std::pow(known.model.measures(known.theta).at("definite_strength"), 2), 0.466753, 5e-7);
}

TEST(SpikeSlabModel, HasTheLogZThatQuadratureFindsAlsoWithPenalties) {
  for (const SpikeSlabCase& each : support::spike_slab_cases(2, 3)) {
    const SpikeSlabModel model(each.structure);
    const Moments theta = support::random_spike_slab(model, 8);
    // Some states have a small precision: a wide square.
    EXPECT_NEAR(model.exact_log_z(theta), (Square{.reach = 30, .points = 601}.log_integral(model, theta)), 1e-9)
        << each.name;
  }
}

// log f is the log of the sum over spikes of integrals over slabs: here by the trapezoidal rule, for each slab.
TEST(SpikeSlabModel, SumsOutSpikesAndSlabs) {
  const SpikeSlabModel model({.inputs = 2, .hidden = 2, .penalties = true});
  const Moments theta = support::random_spike_slab(model, 4);
  const at::Tensor v = rows_of_values(2), t = v.matmul(theta["visible_hidden.weights"]);
  const at::Tensor s = at::linspace(-40, 40, 8001, at::kDouble);
  at::Tensor expected = (v * theta["visible.bias"] - 0.5 * theta["visible.log_precision"].exp() * v.square()).sum(1);
  for (std::int64_t j = 0; j < 2; ++j) {
    const at::Tensor alpha = theta["hidden.log_precision"][j].exp(), mu = theta["hidden.mean"][j];
    const at::Tensor prior = 0.5 * (alpha / (2 * M_PI)).log() - 0.5 * alpha * (s - mu).square();
    const at::Tensor over_slab = at::logsumexp(prior + t.select(1, j).unsqueeze(1) * s, 1) + std::log(80.0 / 8000);
    const at::Tensor on =
        theta["hidden.bias"][j] + over_slab - 0.5 * v.square().matmul(theta["penalty.weights"].select(1, j));
    expected = expected + at::log1p(on.exp());
  }
  EXPECT_LT(largest_of(model.log_f(v, theta) - expected), 1e-10);
}

// Without penalties: the machine of gaussian and spike_slab units, row by row and in what keeps it definite.
TEST(SpikeSlabModel, WithoutPenaltiesIsTheMachineOfSpikeSlabUnits) {
  const SpikeSlabModel model({.inputs = 3, .hidden = 4});
  const Moments theta = support::random_spike_slab(model, 11);
  BoltzmannMachine machine = make_rbm("gaussian:3", "spike_slab:4", at::kDouble);
  const auto set = [&](const char* name, const at::Tensor& value) {
    at::Tensor(machine.parameters()[name]).copy_(value);
  };
  const at::Tensor alpha = theta["hidden.log_precision"].exp(), mu = theta["hidden.mean"];
  set("visible.bias", theta["visible.bias"]);
  set("visible.precision", theta["visible.log_precision"].exp());
  set("visible_hidden.weights", theta["visible_hidden.weights"]);
  set("hidden.bias", alpha * mu);
  set("hidden.precision", alpha);
  set("hidden.spike", theta["hidden.bias"] - 0.5 * (2 * M_PI / alpha).log() - 0.5 * alpha * mu.square());
  // The machine itself is not enumerated, with continuous units on both sides.
  EXPECT_NEAR(model.measures(theta).at("definite_strength"), coupling_strength(machine), 1e-12);
  const at::Tensor v = rows_of_values(3);
  EXPECT_LT(largest_of(model.log_f(v, theta) - log_unnormalized(machine, State{.layers = {v, at::Tensor()}})), 1e-11);
}

TEST(SpikeSlabModel, DrawsExactly) {
  const KnownSsrbm known(0.4);
  // Within 4.5 standard errors: false alarms 3·10⁻⁵ in all five.
  EXPECT_LT(
      support::deviation_of_moments(known.model.exact_draws(known.theta, Key(9), 40'000), known.model, known.theta),
      4.5);
}

// A sweep of Gibbs sampling leaves f_β as it is, and from elsewhere it comes there.
TEST(SpikeSlabModel, HasGibbsSweepsThatLeaveItsPathAsItIs) {
  const KnownSsrbm known(0.4);
  for (const double beta : {0.0, 0.5, 1.0}) {
    at::Tensor v = support::draws_by_quadrature(known.model, known.theta, beta, Key(10), 100'000);
    known.model.gibbs_(v, known.theta, Key(11), beta);
    // Within 4.5 standard errors: false alarms 10⁻⁴ in all fifteen.
    EXPECT_LT(support::deviation_of_moments(v, known.model, known.theta, beta), 4.5) << beta;
    at::Tensor far = at::full({40'000, 2}, 3, at::kDouble);
    EXPECT_GT(support::deviation_of_moments(far + 1e-3 * v.narrow(0, 0, 40'000), known.model, known.theta, beta), 100);
    for (std::uint64_t sweep = 0; sweep < 60; ++sweep)
      known.model.gibbs_(far, known.theta, Key(12).fold_in(sweep), beta);
    EXPECT_LT(support::deviation_of_moments(far, known.model, known.theta, beta), 4.5) << beta;
  }
}

TEST(SpikeSlabModel, IsAnnealedToTheLogZOfItsEnumeration) {
  for (const double penalty : {0.0, 0.4}) {
    const KnownSsrbm known(penalty);
    const AisResult up = ais(FreeEnergyPath(known.model, known.theta, 1), 1000, 100, {.seed = 2});
    const at::Tensor w = (up.log_weights - known.model.exact_log_z(known.theta)).exp();
    // Four standard errors: false alarms 1.3·10⁻⁴ in both.
    EXPECT_NEAR(w.mean().item<double>(), 1, 4 * w.std().item<double>() / std::sqrt(1000.0)) << penalty;
    EXPECT_GT(*up.log_z.effective_samples, 500) << penalty;
  }
}

// KL(teacher ‖ student) by quadrature, with the exact log Z of both. The student starts elsewhere and sees 50 000
// draws.
TEST(SpikeSlabModel, LearnsATeacherOfItsFamily) {
  const Square square{.reach = 20, .points = 401};
  for (const SpikeSlabCase& each : support::spike_slab_cases(2, 2)) {
    SCOPED_TRACE(each.name);
    const SpikeSlabModel teacher(each.structure);
    Moments truth = support::random_spike_slab(teacher, 8);
    truth["hidden.bias"].fill_(0.5);
    truth["hidden.mean"].copy_(at::tensor({1.5, -1.5}, at::kDouble));
    const at::Tensor rows = teacher.exact_draws(truth, Key(1), 50'000);
    const auto student = std::make_shared<const SpikeSlabModel>(each.structure);
    auto objective = std::make_unique<EnergyContrast>(student, student->initial_parameters(Key(2)),
                                                      EnergyContrastOptions{.particles = 200, .leapfrog = 5}, Key(3));
    auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
    Training training(std::move(objective), std::move(optimizer),
                      BatchStream({.name = "draws", .values = rows.to(at::kFloat)}, {.batch = 200}, Key(4)),
                      {.rate_bias = 0.02, .rate_weights = 0.02, .schedule = Schedule::linear},
                      {.updates = 2500, .averaging = 100, .seed = 5});
    const at::Tensor grid = square.grid(), expected = teacher.log_f(grid, truth) - teacher.exact_log_z(truth);
    const auto divergence = [&] {
      const Moments theta = training.averaged().to(at::kDouble);
      return square.divergence(expected, student->log_f(grid, theta) - student->exact_log_z(theta));
    };
    const double before = divergence();
    while (!training.finished()) training.step();
    EXPECT_GT(before, 1);
    EXPECT_LT(divergence(), 0.02);
  }
}

TEST(SpikeSlabModel, RefusesWhatIsNoModel) {
  EXPECT_THROW(SpikeSlabModel({.inputs = 3, .hidden = 0}), Error);
  EXPECT_THROW(SpikeSlabModel({.inputs = 3, .hidden = 2, .definite = SpikeSlabDefinite::penalty}), Error);
  EXPECT_THROW(SpikeSlabModel({.inputs = 3, .hidden = 2, .spread = 0}), Error);
}

}  // namespace
}  // namespace harmonium
