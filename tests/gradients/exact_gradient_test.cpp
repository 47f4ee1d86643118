#include "harmonium/gradients/exact_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/inference/data_moments.h"
#include "harmonium/inference/enumerated_posterior.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::BruteForce;
using support::Configuration;
using support::expect_close;
using support::PlainMachine;
using support::Row;

class ExactMoments : public testing::TestWithParam<support::MachineCase> {};

TEST_P(ExactMoments, AreTheAveragesOverAllStates) {
  const BoltzmannMachine machine = GetParam().make();
  const BruteForce brute(machine);
  expect_close(exact_moments(machine), support::expected_statistics(machine, brute.configurations, brute.probabilities),
               1e-11);
}

INSTANTIATE_TEST_SUITE_P(Machines, ExactMoments,
                         testing::ValuesIn(support::and_general(support::and_inner(support::all_machines()))),
                         support::case_name);

class LikelihoodGradient : public testing::TestWithParam<support::MachineCase> {
 protected:
  // Seven rows for every observed layer: any values a layer may hold.
  [[nodiscard]] State data() const {
    std::vector<at::Tensor> values;
    for (const std::size_t layer : machine.observed()) {
      const at::Tensor field = normal(Key(1).fold_in(layer), {7, machine.unit(layer).width()}, at::kDouble);
      values.push_back(machine.unit(layer).sample(Key(2).fold_in(layer), field, machine.layer_parameters(layer)));
    }
    return machine.observe(values);
  }

  // mean log p(data) by plain loops: sum over the hidden layers for the numerator, over everything for log Z.
  [[nodiscard]] static double mean_log_likelihood(const BoltzmannMachine& under, const State& observed) {
    const PlainMachine plain(under);
    double total = 0;
    for (std::int64_t row = 0; row < observed.rows(); ++row) {
      Configuration x(under.layers().size());
      for (const std::size_t layer : under.observed()) x[layer] = support::numbers(observed.layers[layer][row]);
      total += plain.log_sum(x, under.hidden());
    }
    return total / static_cast<double>(observed.rows()) - BruteForce(under).log_z;
  }

  // Data moments less the model's against differences of the log-likelihood.
  void expect_slope(const Moments& of_data, const State& observed) const {
    const at::Tensor gradient = (of_data - exact_moments(machine)).flatten();
    const at::Tensor theta = machine.parameters().flatten();
    const auto shifted = [&](std::int64_t i, double step) {
      at::Tensor moved = theta.clone();
      moved[i] += step;
      return mean_log_likelihood(machine.with_parameters(machine.parameters().unflatten(moved)), observed);
    };
    constexpr double h = 1e-5;  // truncation about 1e-10, rounding about 1e-9
    for (std::int64_t i = 0; i < theta.numel(); ++i)
      EXPECT_NEAR(gradient[i].item<double>(), (shifted(i, h) - shifted(i, -h)) / (2 * h), 2e-8) << "parameter " << i;
  }

  const BoltzmannMachine machine = GetParam().make();
};

TEST_P(LikelihoodGradient, IsTheSlopeOfTheLogLikelihoodInEveryParameter) {
  const State observed = data();
  expect_slope(data_moments(machine, observed), observed);
}

TEST_P(LikelihoodGradient, IsTheSameByEnumerationOfHiddenStates) {
  for (const std::size_t layer : machine.hidden())
    if (!machine.unit(layer).state_count()) GTEST_SKIP() << "continuous hidden units";
  const State observed = data();
  expect_close(enumerated_data_moments(machine, observed), data_moments(machine, observed), 1e-12);
}

TEST_P(LikelihoodGradient, VanishesWhereTheDataAreTheModelItself) {
  const BruteForce brute(machine);
  const State all = support::to_state(brute.configurations);
  // Every state once, weighted by its probability: the data moments are then the model's.
  const at::Tensor weights = support::to_tensor({brute.probabilities})[0];
  expect_close(machine.moments(all, machine.fields(machine.hidden(), all), weights), exact_moments(machine), 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Machines, LikelihoodGradient,
                         testing::ValuesIn(support::and_inner(support::shallow_machines())), support::case_name);

// Where hidden units are joined to each other, to units of their own layer or of others.
class JoinedLikelihoodGradient : public LikelihoodGradient {};

TEST_P(JoinedLikelihoodGradient, IsTheSlopeOfTheLogLikelihoodInEveryParameter) {
  const State observed = data();
  expect_slope(enumerated_data_moments(machine, observed), observed);
}

std::vector<support::MachineCase> joined_machines() {
  std::vector<support::MachineCase> result = support::general_machines();
  for (const support::MachineCase& one : support::deep_machines())
    if (one.name != "MixedChain") result.push_back(one);  // its upper layer is continuous
  return result;
}
INSTANTIATE_TEST_SUITE_P(Machines, JoinedLikelihoodGradient, testing::ValuesIn(joined_machines()), support::case_name);

TEST(EnumeratedDataMoments, RefuseManyHiddenStates) {
  const auto message = [](const std::string& hidden) {
    const BoltzmannMachine machine = make_boltzmann("bernoulli:2", hidden, {.hidden = false});
    return support::message_of([&] { require_few_hidden_states(machine); });
  };
  EXPECT_EQ(message("bernoulli:15"), "");
  support::expect_mentions(message("bernoulli:16"), {"every state", "15 binary units"});
  support::expect_mentions(message("gaussian:2"), {"gaussian:2", "finite"});
}

TEST(ExactMomentsOfLargeMachines, DoNotDependOnTheBordersOfChunks) {
  // The hidden side has 2^12 states beside 1024 units: several chunks. A machine that repeats one visible unit 1024
  // times with weights that differ in 3 units only has moments that follow from the small machine.
  const BoltzmannMachine small = support::randomized(make_rbm("bernoulli:3", "bernoulli:12", at::kDouble), 31);
  BoltzmannMachine large = make_rbm("bernoulli:1024", "bernoulli:12", at::kDouble);
  large.parameters()["hidden.bias"].copy_(small.parameters()["hidden.bias"]);
  large.parameters()["visible.bias"].narrow(0, 500, 3).copy_(small.parameters()["visible.bias"]);
  large.parameters()["visible_hidden.weights"].narrow(0, 500, 3).copy_(small.parameters()["visible_hidden.weights"]);
  const Moments expected = exact_moments(small), actual = exact_moments(large);
  expect_close(actual["hidden.bias"], expected["hidden.bias"], 1e-11);
  expect_close(actual["visible.bias"].narrow(0, 500, 3), expected["visible.bias"], 1e-11);
  expect_close(actual["visible_hidden.weights"].narrow(0, 500, 3), expected["visible_hidden.weights"], 1e-11);
  EXPECT_NEAR(actual["visible.bias"][0].item<double>(), 0.5, 1e-12) << "a unit without weights is a fair coin";
}

TEST(ExactMomentsOfLargeMachines, SurviveChunksThatWeighNothing) {
  // Hidden unit 11, the highest digit of a state's number, is worth 2000 nats: one chunk is all, the others underflow.
  for (const double bias : {2000.0, -2000.0}) {
    BoltzmannMachine machine = make_rbm("bernoulli:1024", "bernoulli:12", at::kDouble);
    machine.parameters()["hidden.bias"][11] = bias;
    const Moments moments = exact_moments(machine);
    EXPECT_EQ(moments["hidden.bias"][11].item<double>(), bias > 0 ? 1 : 0);
    EXPECT_NEAR(moments["hidden.bias"][0].item<double>(), 0.5, 1e-12);
    EXPECT_NEAR(moments["visible_hidden.weights"][7][0].item<double>(), 0.25, 1e-12);
  }
}

TEST(ExactGradient, GivesMomentsInThePrecisionOfTheMachine) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 32);
  ExactGradient exact;
  EXPECT_EQ(exact.name(), "exact");
  const Moments single = exact.model_moments(machine.to(at::kFloat), {}, Key(0));
  for (const auto& [name, value] : single.entries()) EXPECT_EQ(value.scalar_type(), at::kFloat) << name;
  expect_close(single, exact_moments(machine), 1e-6);
  EXPECT_TRUE(exact.particles().layers.empty());
}

TEST(ExactMomentsOfLargeMachines, AreRefusedBeyondTheLimit) {
  support::expect_mentions(
      support::message_of([] { static_cast<void>(exact_moments(make_rbm("bernoulli:30", "bernoulli:11"), 10)); }),
      {"2^11", "2^10"});
}

TEST(DataMoments, DoNotDependOnTheOrderOfRows) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 33);
  const at::Tensor v = (uniform(Key(3), {9, 4}, at::kDouble) < 0.5).to(at::kDouble);
  expect_close(data_moments(machine, machine.observe({v.flip(0)})), data_moments(machine, machine.observe({v})), 1e-13);
}

}  // namespace
}  // namespace harmonium
