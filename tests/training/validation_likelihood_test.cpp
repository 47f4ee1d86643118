#include "harmonium/training/validation_likelihood.h"

#include <gtest/gtest.h>

#include "harmonium/data/bars_and_stripes.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/training/make_training.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

const Dataset& bars() {
  static const Dataset data = bars_and_stripes({.side = 4});
  return data;
}

// An RBM on bars and stripes, far from where it starts: fang takes them within a few hundred updates.
Training bars_training() {
  BoltzmannMachine machine = make_rbm("bernoulli:16", "bernoulli:15");
  initialize(machine, Key(1), 0.05);
  auto metric = make_metric("centering", machine.topology(), machine.parameters());
  return make_training(std::move(machine), BatchStream(bars(), {.batch = 30}, Key(2)),
                       make_negative_phase("pcd", {.particles = 100}), std::move(metric),
                       {.rate_bias = 0.3, .rate_weights = 0.3, .schedule = Schedule::linear},
                       {.updates = 600, .averaging = 20});
}

ObservedMoments moments_of(const Dataset& data) { return {{data.to_float().mean(0)}}; }

double exact_mean(const BoltzmannMachine& machine) {
  return (log_unnormalized(machine, machine.observe({bars().to_float()})).mean() - exact_log_z(machine).value)
      .item<double>();
}

TEST(ValidationLikelihood, IsExactWhereASideIsSmall) {
  Training training = bars_training();
  ValidationLikelihood exact(machine_of(training), moments_of(bars()), bars(), Binarization::none, {.exact_bits = 15},
                             Key(9));
  for (int i = 0; i < 20; ++i) training.step();
  const BoltzmannMachine machine = averaged_machine(training);
  const auto found = exact.measure(machine, training.update());
  EXPECT_NEAR(found.mean, exact_mean(machine), 1e-6);  // rows in another order
  EXPECT_FALSE(found.effective_samples.has_value());
  EXPECT_TRUE(exact.state().empty());
}

// Followed along the training, as larger machines are. The estimate of Z from 100 chains errs by about one over the
// root of its effective samples; six of those are passed less than once in a million looks.
TEST(ValidationLikelihood, FollowsTheExactOneAlongTheTraining) {
  Training training = bars_training();
  ValidationLikelihood followed(machine_of(training), moments_of(bars()), bars(), Binarization::none,
                                {.steps_per_update = 0.25, .exact_bits = 5}, Key(9));
  double before = 0, after = 0;
  for (int look = 0; look <= 20; ++look) {
    if (look > 0)
      for (int i = 0; i < 30; ++i) training.step();
    const BoltzmannMachine machine = averaged_machine(training);
    const auto found = followed.measure(machine, training.update());
    const double truth = exact_mean(machine);
    EXPECT_NEAR(found.mean, truth, 6 / std::sqrt(*found.effective_samples)) << "update " << training.update();
    (look == 0 ? before : after) = truth;
  }
  EXPECT_GT(after, before + 3) << "the training was meant to go somewhere";
}

// One step to a model far from the base leaves the chains behind: they begin again with more steps, and so does what
// was saved. Exact by enumeration; six of the standard errors are passed less than once in a million looks.
TEST(ValidationLikelihood, BeginsAgainWhereChainsWereLeftBehind) {
  BoltzmannMachine near = make_rbm("bernoulli:16", "bernoulli:15"), far = near;
  initialize(near, Key(1), 0.05);
  far = near.with_parameters(near.parameters().clone());
  initialize(far, Key(2), 0.9);
  const auto make = [&] {
    return ValidationLikelihood(near, moments_of(bars()), bars(), Binarization::none,
                                {.steps_per_update = 0.01, .first_steps = 1, .exact_bits = 5}, Key(9));
  };
  ValidationLikelihood followed = make(), resumed = make();
  EXPECT_TRUE(followed.measure(near, 0).trusted);
  const auto found = followed.measure(far, 1);
  ASSERT_TRUE(found.trusted);
  EXPECT_NEAR(found.mean, exact_mean(far), 6 / std::sqrt(*found.effective_samples));
  NamedTensors saved;
  for (const auto& [name, value] : followed.state()) saved.emplace_back(name, value.clone());
  resumed.restore(saved);
  EXPECT_EQ(followed.measure(near, 2).mean, resumed.measure(near, 2).mean);
}

// Annealing in a single step goes nowhere: what it says must not be believed, and is not.
TEST(ValidationLikelihood, IsNotTrustedWhereChainsCannotFollow) {
  BoltzmannMachine machine = make_rbm("bernoulli:16", "bernoulli:15");
  initialize(machine, Key(2), 2);
  FollowedLogZ followed(machine, moments_of(bars()), {.first_steps = 1, .afresh_steps = 1, .exact_bits = 5}, Key(9));
  const double found = followed.log_z(machine, 0);
  EXPECT_FALSE(followed.trusted());
  EXPECT_LT(found, exact_log_z(machine).value - 1) << "it was meant to be wrong";
  FollowedLogZ patient(machine, moments_of(bars()), {.first_steps = 1, .exact_bits = 5}, Key(9));
  EXPECT_NEAR(patient.log_z(machine, 0), exact_log_z(machine).value, 6 / std::sqrt(*patient.effective_samples()));
  EXPECT_TRUE(patient.trusted());
}

// Upper weights of deviation 1.2, where mean field is far below: a deep machine that is sampled in training has such.
TEST(ValidationLikelihood, OfADeepMachineIsFoundByAnnealingRowsWhereThatIsAskedFor) {
  BoltzmannMachine machine = make_chain({"bernoulli:16", "bernoulli:10", "bernoulli:8"});
  initialize(machine, Key(1), 1.2);
  const auto found = [&](std::int64_t row_betas) {
    return ValidationLikelihood(machine, moments_of(bars()), bars(), Binarization::none,
                                {.row_betas = row_betas, .row_chains = 4, .exact_bits = 18}, Key(9))
        .measure(machine, 0)
        .mean;
  };
  const LogMarginal rows = log_marginal(machine, machine.observe({bars().to_float()}), {.most_work = 1e9});
  ASSERT_TRUE(rows.exact);
  const double truth = rows.log_f.mean().item<double>() - exact_log_z(machine).value;
  EXPECT_LT(found(0), truth - 0.3);
  EXPECT_NEAR(found(200), truth, 0.1);
}

TEST(ValidationLikelihood, GoesOnBitByBitWhereItWasSaved) {
  const auto make = [&](const Training& training) {
    return ValidationLikelihood(machine_of(training), moments_of(bars()), bars(), Binarization::none,
                                {.chains = 20, .exact_bits = 5}, Key(9));
  };
  Training training = bars_training();
  ValidationLikelihood whole = make(training), resumed = make(training);
  (void)whole.measure(averaged_machine(training), 0);
  for (int i = 0; i < 40; ++i) training.step();
  (void)whole.measure(averaged_machine(training), 40);
  NamedTensors saved;
  for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
  for (int i = 0; i < 40; ++i) training.step();
  resumed.restore(saved);
  const BoltzmannMachine machine = averaged_machine(training);
  EXPECT_EQ(whole.measure(machine, 80).mean, resumed.measure(machine, 80).mean);
}

}  // namespace
}  // namespace harmonium
