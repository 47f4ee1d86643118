#include "harmonium/models/definiteness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

BoltzmannMachine joined_reals(double scale) {
  return randomized(make_rbm("gaussian:4", "gaussian:3", at::kDouble), 11, scale);
}

// Precisions on the diagonal and minus the weights beside it, over all real units of two layers: the second derivation.
at::Tensor precision_matrix(const BoltzmannMachine& machine) {
  const at::Tensor w = machine.parameters()["visible_hidden.weights"];
  return at::cat({at::cat({at::diag(machine.parameters()["visible.precision"]), -w}, 1),
                  at::cat({-w.t(), at::diag(machine.parameters()["hidden.precision"])}, 1)},
                 0);
}

double least_eigenvalue(const at::Tensor& matrix) { return at::linalg_eigvalsh(matrix, "L").min().item<double>(); }

TEST(Definiteness, IsThatOfTheJointPrecisionMatrix) {
  for (const double scale : {0.1, 0.2, 0.3, 0.5, 1.0}) {
    BoltzmannMachine machine = joined_reals(0.1);  // small enough not to be constrained
    at::Tensor(machine.parameters()["visible_hidden.weights"]).mul_(scale / 0.1);
    EXPECT_EQ(coupling_strength(machine) < 1, least_eigenvalue(precision_matrix(machine)) > 0) << scale;
  }
  EXPECT_EQ(coupling_strength(randomized(make_rbm("gaussian:4", "bernoulli:3", at::kDouble), 1, 9.0)), 0)
      << "binary units are bounded";
}

// A machine exactly at the border, stepped over it from both sides: strength is a singular value, so it scales with W.
TEST(Definiteness, RefusesFromTheBorderOnInWords) {
  BoltzmannMachine machine = joined_reals(0.2);
  at::Tensor weights = machine.parameters()["visible_hidden.weights"];
  weights.mul_(1 / coupling_strength(machine));
  weights.mul_(1 - 1e-6);
  EXPECT_NO_THROW(require_finite_z(machine));
  EXPECT_GT(least_eigenvalue(precision_matrix(machine)), 0);
  weights.mul_(1 + 3e-6);
  EXPECT_LT(least_eigenvalue(precision_matrix(machine)), 0);
  try {
    require_finite_z(machine);
    FAIL() << "a machine without a finite Z was let through";
  } catch (const Error& error) {
    support::expect_mentions(error.marked(),
                             {"'visible' and 'hidden'", "must be below 1", "Z is infinite", "@rate_weights"});
  }
}

TEST(Definiteness, IsKeptByTheConstraintsOfAStep) {
  BoltzmannMachine machine = joined_reals(0.2);
  at::Tensor weights = machine.parameters()["visible_hidden.weights"];
  const at::Tensor fine = weights.clone();
  machine.constrain_();
  EXPECT_TRUE(at::equal(weights, fine)) << "what is definite is left alone";
  weights.mul_(5);
  const at::Tensor wild = weights.clone();
  machine.constrain_();
  EXPECT_NEAR(coupling_strength(machine), strongest_coupling, 1e-9);
  EXPECT_GT(least_eigenvalue(precision_matrix(machine)), 0);
  // The nearest: what is below the limit stays, so the change has the rank of what was above it.
  const auto scale = [&](const at::Tensor& w) {
    return w / machine.parameters()["visible.precision"].sqrt().unsqueeze(1) /
           machine.parameters()["hidden.precision"].sqrt();
  };
  const at::Tensor before = std::get<1>(at::linalg_svd(scale(wild), false));
  const at::Tensor after = std::get<1>(at::linalg_svd(scale(weights), false));
  EXPECT_TRUE(at::allclose(after, before.clamp_max(strongest_coupling), 1e-9, 1e-9));
}

// κ is what the log-partition grows by: 2·log_partition(x) / x² far out, in the direction in which it grows more.
TEST(Definiteness, GoesByTheGrowthOfEveryUnit) {
  for (const char* spec : {"gaussian:1", "relu:1", "drelu:1", "spike_slab:1"}) {
    const auto unit = make_unit(spec);
    Unit::Parameters theta = unit->neutral_parameters(at::kDouble);
    for (std::size_t i = 1; i < theta.size(); ++i)
      if (unit->parameter_names()[i].starts_with("precision")) theta[i].fill_(0.5 + static_cast<double>(i));
    constexpr double far = 1e7;
    const at::Tensor field = at::tensor({far, -far}, at::kDouble).unsqueeze(1);
    const double found = (2 * unit->log_partition(field, theta).max() / (far * far)).item<double>();
    EXPECT_NEAR(unit->growth(theta).item<double>(), found, 1e-5) << spec;
  }
  for (const char* spec : {"bernoulli:2", "softmax:1x2", "cardinality:3<=1", "pooled:1x2", "or_pooled:1x2"})
    EXPECT_FALSE(make_unit(spec)->growth({at::zeros({2}, at::kDouble)}).defined()) << spec;
}

// Gaussian visible units beside units without bounds are refused beyond the border; stepped ones are bounded and never
// refused, though training keeps to the border as well.
TEST(Definiteness, OfRectifiedUnitsIsKeptByStepsAndAskedForWhereItMatters) {
  for (const char* hidden : {"relu:3", "drelu:3", "spike_slab:3", "spike_slab:2x2", "stepped:3"}) {
    SCOPED_TRACE(hidden);
    BoltzmannMachine machine = randomized(make_rbm("gaussian:4", hidden, at::kDouble), 12, 0.2);
    at::Tensor(machine.parameters()["visible_hidden.weights"]).mul_(10 / coupling_strength(machine));
    EXPECT_NEAR(coupling_strength(machine), 10, 1e-9);
    if (machine.unit(1).state_count())
      EXPECT_NO_THROW(require_finite_z(machine));
    else
      EXPECT_THROW(require_finite_z(machine), Error);
    machine.constrain_();
    EXPECT_NEAR(coupling_strength(machine), strongest_coupling, 1e-9);
    EXPECT_NO_THROW(require_finite_z(machine));
  }
}

TEST(Definiteness, OfPoissonUnitsNeedsBoundedNeighbours) {
  for (const char* other : {"gaussian:2", "relu:2", "poisson:2", "spike_slab:2"})
    support::expect_mentions(support::message_of([&] { (void)make_rbm("poisson:3", other); }),
                             {"poisson:3", other, "Z would be infinite", "bounded"});
  for (const char* other : {"bernoulli:2", "softmax:1x2", "cardinality:3<=1", "stepped:2"})
    EXPECT_NO_THROW((void)make_rbm("poisson:3", other)) << other;
}

TEST(Definiteness, OfThreeLayersIsThatOfAllTogether) {
  BoltzmannMachine machine = randomized(make_chain({"gaussian:2", "gaussian:3", "gaussian:2"}, at::kDouble), 3, 2.0);
  EXPECT_NEAR(coupling_strength(machine), strongest_coupling, 1e-9);
  EXPECT_NO_THROW(require_finite_z(machine));
}

// What was found out about earlier weights saves work and changes nothing: far below the limit, on the way to it and at
// it.
TEST(Definiteness, RememberedStrengthChangesNothing) {
  BoltzmannMachine machine = randomized(make_rbm("gaussian:7", "spike_slab:5"), 3, 0.05);
  BoltzmannMachine other = machine.with_parameters(machine.parameters().clone());
  KnownStrength known;
  int clipped = 0;
  for (std::uint64_t step = 0; step < 300; ++step) {
    Moments noise = machine.parameters().zeros_like();
    noise["visible_hidden.weights"].copy_(0.05 * normal(Key(2).fold_in(step), {7, 5}));
    noise["visible.precision"].copy_(0.01 * normal(Key(3).fold_in(step), {7}));
    for (BoltzmannMachine* each : {&machine, &other}) each->parameters().add_(noise);
    clipped += coupling_strength(machine) > strongest_coupling;
    constrain_(machine, known);
    other.constrain_();
    ASSERT_TRUE(support::identical(machine.parameters(), other.parameters())) << "update " << step;
  }
  EXPECT_GT(clipped, 5);
  EXPECT_LT(clipped, 250);
}

}  // namespace
}  // namespace harmonium
