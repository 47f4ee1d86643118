// Parallel tempering and tempered transitions as negative phases, on machines small enough to know their moments.
// Standard errors come from independent repetitions or long batches; 5.5 (or, with 39 degrees of freedom, 7.3) of them
// are allowed, so a test that compares at most 40 numbers has a false-alarm rate below 2e-6.
#include <gtest/gtest.h>

#include "harmonium/gradients/base_rates.h"
#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/gradients/pt_gradient.h"
#include "harmonium/gradients/tempered_gradient.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

std::vector<support::MachineCase> tempered_machines() {
  return {
      support::rbm_case("Rbm", "bernoulli:3", "bernoulli:2"),
      support::rbm_case("Softmax", "softmax:1x3", "softmax:2x2"),
      support::rbm_case("Gaussian", "gaussian:2", "bernoulli:2"),
      {"Classification",
       [] {
         return support::randomized(make_classification_rbm("bernoulli:2", 3, "bernoulli:2", at::kDouble), 71, 1.2);
       }},
      {"Chain",
       [] {
         return support::randomized(make_chain({"bernoulli:2", "bernoulli:3", "bernoulli:2"}, at::kDouble), 72, 1.2);
       }},
  };
}

// A batch far from what the model makes, so that the base is no help by accident.
State some_batch(const BoltzmannMachine& machine) {
  State data;
  data.layers.resize(machine.layers().size());
  for (const std::size_t layer : machine.observed()) {
    const Unit& unit = machine.unit(layer);
    data.layers[layer] =
        unit.sample(Key(73).fold_in(layer), normal(Key(74).fold_in(layer), {40, unit.width()}, at::kDouble),
                    machine.layer_parameters(layer));
  }
  return data;
}

class TemperedPhase : public testing::TestWithParam<std::tuple<std::string, support::MachineCase>> {
 protected:
  const support::ThreadCount one_thread{1};
  const std::string name = std::get<0>(GetParam());
  const BoltzmannMachine machine = std::get<1>(GetParam()).make();
  const State data = some_batch(machine);
};

TEST_P(TemperedPhase, ConvergesToTheModelsMomentsAtFixedParameters) {
  const auto phase = make_negative_phase(name, {.sweeps = 1, .particles = 100, .rungs = 4});
  const auto update = [&](std::uint64_t i) {
    return phase->model_moments(machine, data, Key(75).fold_in(i)).flatten();
  };
  for (std::uint64_t i = 0; i < 40; ++i) static_cast<void>(update(i));  // forget the start
  std::vector<at::Tensor> batches;
  for (std::uint64_t batch = 0; batch < 40; ++batch) {
    at::Tensor sum;
    for (std::uint64_t i = 0; i < 20; ++i) {
      const at::Tensor moments = update(100 + batch * 20 + i);
      sum = sum.defined() ? sum + moments : moments;
    }
    batches.push_back(sum / 20);
  }
  const at::Tensor repetitions = at::stack(batches), error = repetitions.mean(0) - exact_moments(machine).flatten();
  const at::Tensor standard_error = ((repetitions - repetitions.mean(0)).square().sum(0) / (40.0 * 39.0)).sqrt();
  EXPECT_TRUE(error.abs().le(7.3 * standard_error + 1e-12).all().item<bool>()) << error << standard_error;
  EXPECT_LT(standard_error.max().item<double>(), 0.03) << "the comparison must be sharp enough to mean something";
}

TEST_P(TemperedPhase, IsAFunctionOfItsKeyAndContinuesBitIdenticallyFromASavedState) {
  const NegativePhaseOptions options{.sweeps = 2, .particles = 13, .rungs = 5};
  const auto whole = make_negative_phase(name, options), twin = make_negative_phase(name, options),
             resumed = make_negative_phase(name, options);
  const auto update = [&](NegativePhase& phase, std::uint64_t i) {
    return phase.model_moments(machine, data, Key(76).fold_in(i));
  };
  EXPECT_TRUE(whole->state().empty());
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(support::identical(update(*whole, i), update(*twin, i)));
  EXPECT_FALSE(support::identical(update(*whole, 5), update(*twin, 6))) << "another key";
  NamedTensors saved;
  for (const auto& [key, value] : whole->state()) saved.emplace_back(key, value.clone());
  resumed->restore(saved);
  for (std::uint64_t i = 6; i < 11; ++i) EXPECT_TRUE(support::identical(update(*whole, i), update(*resumed, i)));
  ASSERT_EQ(whole->particles().layers.size(), machine.layers().size());
  EXPECT_EQ(whole->particles().rows(), 13);

  // Restored from nothing, it begins again.
  resumed->restore({});
  EXPECT_TRUE(support::identical(update(*resumed, 20), update(*make_negative_phase(name, options), 20)));
}

INSTANTIATE_TEST_SUITE_P(All, TemperedPhase,
                         testing::Combine(testing::Values("pt", "tempered"), testing::ValuesIn(tempered_machines())),
                         [](const auto& one) { return std::get<0>(one.param) + std::get<1>(one.param).name; });

// Chains that start where they belong stay there: no time to forget anything, independent repetitions.
TEST(TemperedPhases, AreUnbiasedFromExactDraws) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 77, 1.5);
  const at::Tensor expected = exact_moments(machine).flatten();
  std::vector<at::Tensor> by_exchange, by_excursion;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const TemperedLine line(machine, BaseRates().parameters(machine));
    const NegativePhaseOptions options{.particles = 200, .rungs = 3};
    ParallelTempering chains(linear_ladder(3), 200);
    std::vector<State> rungs;
    for (std::uint64_t rung = 0; rung < 3; ++rung) {
      rungs.push_back(exact_sample(line.at(0.5 * static_cast<double>(rung)), Key(78).fold_in(i).fold_in(rung), 200));
      rungs.back().layers[1] = at::Tensor();
    }
    chains.start(rungs);
    PtGradient exchanging(options);
    exchanging.restore(chains.state());
    static_cast<void>(exchanging.model_moments(machine, {}, Key(79).fold_in(i)));
    by_exchange.push_back(exchanging.model_moments(machine, {}, Key(80).fold_in(i)).flatten());

    const State start = exact_sample(machine, Key(81).fold_in(i), 200);
    TemperedGradient wandering(options);
    wandering.restore({{"particles.0", start.layers[0]}, {"particles.1", start.layers[1]}});
    by_excursion.push_back(wandering.model_moments(machine, {}, Key(82).fold_in(i)).flatten());
    EXPECT_GT(wandering.acceptance(), 0.1);
  }
  support::expect_mean(at::stack(by_exchange), expected, "pt");
  support::expect_mean(at::stack(by_excursion), expected, "tempered");
}

// Two deep modes, all chains begin in one of them: persistent Gibbs chains stay, tempered ones find the other.
TEST(TemperedPhases, LeaveAModeThatPersistentChainsStayIn) {
  const support::ThreadCount one_thread(1);
  BoltzmannMachine machine = make_rbm("bernoulli:10", "bernoulli:6", at::kDouble);
  machine.parameters()["visible_hidden.weights"].fill_(2);
  machine.parameters()["visible.bias"].fill_(-6);
  machine.parameters()["hidden.bias"].fill_(-10);
  const auto mean_after = [&](const std::string& name, std::int64_t rungs) {
    const auto phase = make_negative_phase(name, {.particles = 200, .rungs = rungs});
    at::Tensor sum = at::zeros({10}, at::kDouble);
    for (std::uint64_t update = 0; update < 150; ++update) {
      const Moments moments = phase->model_moments(machine, {}, Key(83).fold_in(update));
      if (update >= 50) sum += moments["visible.bias"] / 100;
    }
    return sum.mean().item<double>();
  };
  EXPECT_LT(mean_after("pcd", 2), 0.01);  // PCD starts from the biases, which point at "off"
  // The truth is ½ by symmetry; 200 chains that cross every few dozen updates give it to about 0.02.
  EXPECT_NEAR(mean_after("pt", 10), 0.5, 0.1);
  EXPECT_NEAR(mean_after("tempered", 40), 0.5, 0.1);
}

TEST(BaseRates, AreThoseOfTheData) {
  const BoltzmannMachine machine = make_classification_rbm("bernoulli:2", 3, "bernoulli:2", at::kDouble);
  BaseRates base;
  support::expect_close(base.parameters(machine), machine.parameters().zeros_like(), 0);
  const at::Tensor visible = at::tensor({1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0}, at::kDouble).reshape({4, 2});
  const at::Tensor label = at::one_hot(at::tensor({0, 0, 1, 2}, at::kLong), 3).to(at::kDouble);
  base.observe(machine, {{visible, label, {}}});
  base.observe(machine, {{1 - visible, label, {}}});
  base.observe(machine, {});
  const Moments found = base.parameters(machine);
  support::expect_close(found["visible.bias"], at::zeros({2}, at::kDouble), 1e-12);  // ¾ and ¼, then ¼ and ¾
  support::expect_close(at::softmax(found["label.bias"], 0), at::tensor({0.495, 0.2525, 0.2525}, at::kDouble), 1e-12);
  EXPECT_EQ(found["hidden.bias"].count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ(found["visible_hidden.weights"].count_nonzero().item<std::int64_t>(), 0);
  BaseRates copy;
  copy.restore(base.state());
  EXPECT_TRUE(support::identical(copy.parameters(machine), found));
}

TEST(MakeNegativePhase, RefusesALadderOfOneRung) {
  for (const std::string name : {"pt", "tempered"})
    support::expect_mentions(support::message_of([&] { static_cast<void>(make_negative_phase(name, {.rungs = 1})); }),
                             {"rungs", "1"});
}

}  // namespace
}  // namespace harmonium
