// log Z of general Boltzmann machines, of which no layer can be summed out: intervals cover the exact value as often as
// they say, and forward and reverse annealing are bounds from both sides.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

struct Look {
  double exact = 0;
  Estimate ais = {}, reverse = {};  // with many steps
  double coarse = 0, above = 0;     // with one step: differences to the exact value
};

// Machine i has weights N(0, s²) with s from 0.1 to 1.2 over the machines, and biases that leave half of the units on.
Look look_at(std::uint64_t number, std::uint64_t machines) {
  const double stiffness = 0.1 * std::pow(12.0, static_cast<double>(number) / static_cast<double>(machines - 1));
  BoltzmannMachine machine =
      support::randomized(make_boltzmann("bernoulli:6", "bernoulli:4", {}, at::kDouble), 5000 + number, stiffness);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    State half;
    for (std::size_t each = 0; each < 2; ++each) half.layers.push_back(at::full({1, machine.unit(each).width()}, 0.5));
    for (at::Tensor& each : half.layers) each = each.to(at::kDouble);
    at::Tensor bias = machine.layer_parameters(layer)[0];
    bias.copy_(0.3 * bias - machine.input(layer, half)[0]);
  }
  const BaseModel base = uniform_base(machine);
  Look look{.exact = exact_log_z(machine).value};
  const AnnealingOptions options{.chains_at_once = 100, .seed = 6000 + number};
  const AnnealingPath fine(base, {machine}, linear_schedule(60)), coarse(base, {machine}, linear_schedule(1));
  look.ais = ais(fine, 100, options).log_z;
  look.reverse = reverse_ais(fine, exact_sample(machine, Key(7000 + number), 100), options).log_z;
  look.coarse = ais(coarse, 10, options).log_weights.mean().item<double>() - look.exact;
  look.above =
      average_bound(reverse_ais(coarse, exact_sample(machine, Key(8000 + number), 10), options), 1).value - look.exact;
  return look;
}

class GeneralMachines : public testing::Test {
 protected:
  static const std::vector<Look>& all() {
    static const std::vector<Look> result = [] {
      const support::ThreadCount one_thread(1);
      std::vector<Look> looks;
      for (std::uint64_t i = 0; i < 200; ++i) looks.push_back(look_at(i, 200));
      return looks;
    }();
    return result;
  }
};

// If each interval covers with probability 0.95, fewer than 180 or more than 198 of 200 do so with probability 1e-3,
// for each of the two ways.
TEST_F(GeneralMachines, AreCoveredByTheIntervalsAsOftenAsTheySay) {
  for (const auto estimate : {&Look::ais, &Look::reverse}) {
    int covered = 0;
    for (const Look& one : all()) covered += (one.*estimate).low <= one.exact && one.exact <= (one.*estimate).high;
    EXPECT_GE(covered, 180) << (all()[0].*estimate).method;
    EXPECT_LE(covered, 198) << (all()[0].*estimate).method;
  }
}

// What single chains say, averaged: below log Z by a divergence on the way up, above it on the way down. With one step
// both must show, by three standard errors.
TEST_F(GeneralMachines, AreBoundedFromBothSidesOnAverage) {
  std::vector<double> below, above;
  for (const Look& one : all()) {
    below.push_back(one.coarse);
    above.push_back(one.above);
  }
  const auto in_errors = [](const std::vector<double>& values) {
    const at::Tensor all = at::tensor(values, at::kDouble);
    return all.mean().item<double>() / (all.std().item<double>() / std::sqrt(static_cast<double>(values.size())));
  };
  EXPECT_LT(in_errors(below), -3);
  EXPECT_GT(in_errors(above), 3);
}

}  // namespace
}  // namespace harmonium
