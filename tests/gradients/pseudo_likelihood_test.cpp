// The pseudo-likelihood against its definition written out, and its gradient against differences.
#include "harmonium/gradients/pseudo_likelihood.h"

#include <gtest/gtest.h>

#include "harmonium/inference/data_moments.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::Configuration;
using support::PlainMachine;
using support::Row;

std::vector<support::MachineCase> discrete_machines_of_one_hidden_layer() {
  std::vector<support::MachineCase> result;
  for (const support::MachineCase& one : support::and_inner(support::shallow_machines())) {
    const BoltzmannMachine machine = one.make();
    bool discrete = true;
    for (const std::size_t layer : machine.observed())
      discrete = discrete && (machine.unit(layer).support() == Unit::Support::bits ||
                              machine.unit(layer).support() == Unit::Support::one_hot);
    if (discrete) result.push_back(one);
  }
  return result;
}

// Rows of all observed layers, every value possible.
State some_rows(const BoltzmannMachine& machine, std::int64_t rows) {
  std::vector<at::Tensor> values;
  for (const std::size_t layer : machine.observed()) {
    const at::Tensor field = at::zeros({rows, machine.unit(layer).width()}, at::kDouble);
    values.push_back(machine.unit(layer).sample(Key(3).fold_in(layer), field, machine.layer_parameters(layer)));
  }
  return machine.observe(values);
}

// log f of a row with all hidden states summed in plain loops.
double log_f(const PlainMachine& plain, const BoltzmannMachine& machine, const Configuration& x) {
  return plain.log_sum(x, machine.hidden());
}

double written_out(const BoltzmannMachine& machine, const State& data) {
  const PlainMachine plain(machine);
  double total = 0;
  for (std::int64_t row = 0; row < data.rows(); ++row) {
    Configuration x(machine.layers().size());
    for (const std::size_t layer : machine.observed()) x[layer] = support::numbers(data.layers[layer][row]);
    for (const std::size_t layer : machine.observed()) {
      const Unit::Digit digit = machine.unit(layer).digit();
      const auto columns = static_cast<std::size_t>(digit.columns);
      for (std::size_t first = 0; first < x[layer].size(); first += columns) {
        Row alternatives;
        for (std::int64_t value = 0; value < digit.values; ++value) {
          Configuration other = x;
          for (std::size_t c = 0; c < columns; ++c)
            other[layer][first + c] =
                columns == 1 ? static_cast<double>(value) : (static_cast<std::int64_t>(c) == value);
          alternatives.push_back(log_f(plain, machine, other));
        }
        total += log_f(plain, machine, x) - support::log_sum_exp(alternatives);
      }
    }
  }
  return total / static_cast<double>(data.rows());
}

class PseudoLikelihoodOf : public testing::TestWithParam<support::MachineCase> {
 protected:
  const BoltzmannMachine machine = GetParam().make();
  const State data = some_rows(machine, 7);
};

TEST_P(PseudoLikelihoodOf, IsTheSumOfConditionals) {
  EXPECT_NEAR(pseudo_likelihood(machine, data).value, written_out(machine, data), 1e-11);
}

TEST_P(PseudoLikelihoodOf, HasTheSlopeOfItsGradient) {
  const at::Tensor gradient = pseudo_likelihood(machine, data).gradient.flatten();
  const at::Tensor theta = machine.parameters().flatten();
  constexpr double h = 1e-5;  // truncation about 1e-10, rounding about 1e-9
  for (std::int64_t i = 0; i < theta.numel(); ++i) {
    const auto moved = [&](double step) {
      at::Tensor there = theta.clone();
      there[i] += step;
      return written_out(machine.with_parameters(machine.parameters().unflatten(there)), data);
    };
    EXPECT_NEAR(gradient[i].item<double>(), (moved(h) - moved(-h)) / (2 * h), 2e-8) << "parameter " << i;
  }
}

TEST_P(PseudoLikelihoodOf, EntersTrainingAsDataMinusModelMoments) {
  const auto phase = make_negative_phase("pl", {});
  support::expect_close(data_moments(machine, data) - phase->model_moments(machine, data, Key(1)),
                        pseudo_likelihood(machine, data).gradient, 1e-12);
  EXPECT_FALSE(phase->has_particles());
}

// Where the data are the model's own distribution, the true parameters are a maximum: no slope on average.
TEST_P(PseudoLikelihoodOf, HasNoSlopeAtTheTruth) {
  const support::BruteForce brute(machine);
  Moments total = machine.parameters().zeros_like();
  for (std::size_t n = 0; n < brute.configurations.size(); ++n) {
    State row = support::to_state({brute.configurations[n]});
    for (const std::size_t layer : machine.hidden()) row.layers[layer] = at::Tensor();
    total.add_(pseudo_likelihood(machine, row).gradient, brute.probabilities[n]);
  }
  support::expect_close(total, machine.parameters().zeros_like(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Machines, PseudoLikelihoodOf, testing::ValuesIn(discrete_machines_of_one_hidden_layer()),
                         support::case_name);

TEST(PseudoLikelihood, DoesNotDependOnItsPiecesOfRows) {
  // 90 × 60 units: a piece holds 388 rows.
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:90", "bernoulli:60", at::kDouble), 4, 0.1);
  const State data = some_rows(machine, 500);
  const PseudoLikelihoodValue whole = pseudo_likelihood(machine, data);
  PseudoLikelihoodValue parts{.value = 0, .gradient = machine.parameters().zeros_like()};
  for (const auto& [first, count] : {std::pair(0, 137), std::pair(137, 363)}) {
    State rows = data;
    rows.layers[0] = data.layers[0].narrow(0, first, count);
    const PseudoLikelihoodValue one = pseudo_likelihood(machine, rows);
    parts.value += one.value * count / 500.0;
    parts.gradient.add_(one.gradient, count / 500.0);
  }
  EXPECT_NEAR(whole.value, parts.value, 1e-9);
  support::expect_close(whole.gradient, parts.gradient, 1e-10);
}

TEST(PseudoLikelihood, RefusesWhatItCannotEnumerate) {
  const auto complaint = [](const BoltzmannMachine& machine) {
    return support::message_of([&] { static_cast<void>(pseudo_likelihood(machine, some_rows(machine, 2))); });
  };
  support::expect_mentions(complaint(make_rbm("gaussian:2", "bernoulli:2", at::kDouble)),
                           {"gaussian:2", "cannot be enumerated"});
  support::expect_mentions(complaint(make_chain({"bernoulli:2", "bernoulli:2", "bernoulli:2"}, at::kDouble)),
                           {"hidden layers are joined to each other"});
}

}  // namespace
}  // namespace harmonium
