#include "harmonium/likelihood/unit_conditionals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/gradients/pseudo_likelihood.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/models/builders.h"

namespace harmonium {
namespace {

BoltzmannMachine rbm_with_weights(const std::string& visible, const std::string& hidden) {
  BoltzmannMachine machine = make_rbm(visible, hidden, at::kDouble);
  initialize(machine, Key(3), 0.8);
  return machine;
}

LogMass log_f_of(const BoltzmannMachine& machine) {
  return [&machine](const at::Tensor& rows) { return log_unnormalized(machine, machine.observe({rows})); };
}

double mean_over_all_parts(const BoltzmannMachine& machine, const at::Tensor& rows) {
  double total = 0;
  for (std::int64_t part = 0; part < count_parts(machine); ++part)
    total += unit_conditionals(machine, rows, at::full({rows.size(0)}, part, at::kLong), log_f_of(machine))
                 .mean()
                 .item<double>();
  return total;
}

TEST(UnitConditionals, OfAllBinaryUnitsAddUpToThePseudoLikelihood) {
  const BoltzmannMachine machine = rbm_with_weights("bernoulli:6", "bernoulli:4");
  const at::Tensor rows = machine.independent_sample(Key(5), 20).layers[0];
  EXPECT_NEAR(mean_over_all_parts(machine, rows), pseudo_likelihood(machine, machine.observe({rows})).value, 1e-10);
}

TEST(UnitConditionals, OfAllSoftmaxGroupsAddUpToThePseudoLikelihood) {
  const BoltzmannMachine machine = rbm_with_weights("softmax:3x4", "bernoulli:4");
  const at::Tensor rows = machine.independent_sample(Key(5), 20).layers[0];
  EXPECT_EQ(count_parts(machine), 3);
  EXPECT_NEAR(mean_over_all_parts(machine, rows), pseudo_likelihood(machine, machine.observe({rows})).value, 1e-10);
}

// A second derivation: given the other units, p(h) is known by enumeration, and the unit is a mixture of normals.
TEST(UnitConditionals, OfAGaussianUnitIsTheMixtureOfNormalsThatEnumerationGives) {
  BoltzmannMachine machine = rbm_with_weights("gaussian:3", "bernoulli:4");
  machine.parameters()["visible.precision"].fill_(2.5);
  machine.parameters()["visible_hidden.weights"].mul_(4);  // means many deviations apart
  const std::int64_t unit = 1, states = 16;
  const double precision = 2.5;
  const at::Tensor rows = at::tensor({0.3, -0.7, 1.1, -2.0, 3.0, 0.0}, at::kDouble).view({2, 3});
  const at::Tensor found = unit_conditionals(machine, rows, at::full({2}, unit, at::kLong), log_f_of(machine));
  const at::Tensor hidden = machine.unit(1).states(at::arange(states, at::kLong), at::kDouble);
  const at::Tensor &w = machine.parameters()["visible_hidden.weights"], &a = machine.parameters()["visible.bias"],
                   &b = machine.parameters()["hidden.bias"];
  for (std::int64_t row = 0; row < 2; ++row) {
    at::Tensor others = rows[row].clone();
    const double x = others[unit].item<double>();
    others[unit] = 0;
    // log ∫ e^{−E} dx = h·(b + Wᵀv) + m²λ/2 + const with m = (a + W h)/λ the mean of the unit given h.
    const at::Tensor mean = (a[unit] + hidden.matmul(w[unit])) / precision;
    const at::Tensor log_weight = hidden.matmul(b + others.matmul(w)) + mean.square() * (precision / 2);
    const at::Tensor log_density = (mean - x).square() * (-precision / 2) + 0.5 * std::log(precision / (2 * M_PI));
    const double expected =
        (at::logsumexp(log_weight + log_density, {0}) - at::logsumexp(log_weight, {0})).item<double>();
    EXPECT_NEAR(found[row].item<double>(), expected, 1e-7);
  }
}

}  // namespace
}  // namespace harmonium
