// CD and PCD against what defines them, on machines small enough to follow every state. Comparisons are at 5.5 standard
// errors (3.8e-8 each); a test compares at most 40 numbers, so its false-alarm rate is below 2e-6.
#include "harmonium/gradients/negative_phase.h"

#include <gtest/gtest.h>

#include "harmonium/gradients/exact_gradient.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::BruteForce;
using support::Configuration;
using support::Row;

struct Setting {
  std::string name;
  BoltzmannMachine machine;
};

std::vector<Setting> settings() {
  return {{"rbm", support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 41, 1.2)},
          {"softmax", support::randomized(make_rbm("softmax:1x3", "softmax:2x2", at::kDouble), 42, 1.2)},
          {"classification",
           support::randomized(make_classification_rbm("bernoulli:2", 3, "bernoulli:2", at::kDouble), 43, 1.2)}};
}

// Some rows of data: the observed values of a few configurations.
std::vector<Configuration> data_rows(const BruteForce& brute) {
  const std::size_t n = brute.configurations.size();
  return {brute.configurations[0], brute.configurations[n / 3], brute.configurations[n / 2 + 1],
          brute.configurations[n / 2 + 1]};
}

State observed_part(const BoltzmannMachine& machine, const std::vector<Configuration>& rows) {
  State state = support::to_state(rows);
  for (const std::size_t layer : machine.hidden()) state.layers[layer] = at::Tensor();
  return state;
}

// E[statistics after k sweeps from the data], by multiplying the distribution with the transition probabilities.
Moments defining_expectation_of_cd(const BoltzmannMachine& machine, const BruteForce& brute,
                                   const std::vector<Configuration>& rows, int k) {
  Row distribution(brute.configurations.size(), 0.0);
  for (const Configuration& row : rows) {
    const auto at = std::find(brute.configurations.begin(), brute.configurations.end(), row);
    distribution[static_cast<std::size_t>(at - brute.configurations.begin())] += 1.0 / static_cast<double>(rows.size());
  }
  distribution = brute.resample(distribution, machine.hidden());
  for (int sweep = 0; sweep < k; ++sweep)
    for (const LayerSet& block : machine.blocks()) distribution = brute.resample(distribution, block);
  return support::expected_statistics(machine, brute.configurations, distribution);
}

TEST(Cd, HasTheExpectationThatDefinesIt) {
  const support::ThreadCount one_thread(1);
  for (const Setting& one : settings())
    for (const int k : {1, 3}) {
      SCOPED_TRACE(one.name + " k=" + std::to_string(k));
      const BruteForce brute(one.machine);
      const std::vector<Configuration> rows = data_rows(brute);
      State data = observed_part(one.machine, rows);
      for (at::Tensor& layer : data.layers)
        if (layer.defined()) layer = layer.repeat({100, 1});
      const auto cd = make_negative_phase("cd", {.sweeps = k});
      std::vector<at::Tensor> repetitions;
      for (std::uint64_t i = 0; i < 200; ++i)
        repetitions.push_back(cd->model_moments(one.machine, data, Key(44).fold_in(i)).flatten());
      const at::Tensor expected = defining_expectation_of_cd(one.machine, brute, rows, k).flatten();
      support::expect_mean(at::stack(repetitions), expected);
      // CD-1 is biased: were its expectation the model's, the comparison would show nothing.
      if (k == 1) {
        EXPECT_GT((expected - exact_moments(one.machine).flatten()).abs().max().item<double>(), 0.02);
      }
    }
}

TEST(NegativePhase, SubtractsWhatItWouldReturn) {
  for (const Setting& one : settings()) {
    const State data = observed_part(one.machine, data_rows(BruteForce(one.machine)));
    for (const std::string name : {"cd", "pcd", "fpcd", "mf_cd"}) {
      SCOPED_TRACE(one.name + " " + name);
      const auto apart = make_negative_phase(name, {}), in_place = make_negative_phase(name, {});
      for (std::uint64_t update = 0; update < 3; ++update) {
        const Key key = Key(51).fold_in(update);
        Moments gradient = one.machine.parameters().clone();
        in_place->subtract_model_moments(gradient, one.machine, data, key);
        support::expect_close(gradient, one.machine.parameters() - apart->model_moments(one.machine, data, key), 1e-12);
      }
    }
  }
}

TEST(Cd, DoesNotTouchTheBatchAndKeepsItsChains) {
  const BoltzmannMachine machine = settings()[0].machine;
  const State data = observed_part(machine, data_rows(BruteForce(machine)));
  const at::Tensor before = data.layers[0].clone();
  const auto cd = make_negative_phase("cd", {});
  static_cast<void>(cd->model_moments(machine, data, Key(45)));
  EXPECT_TRUE(at::equal(data.layers[0], before));
  EXPECT_FALSE(data.layers[1].defined());
  ASSERT_EQ(cd->particles().layers.size(), 2U);
  EXPECT_EQ(cd->particles().layers[1].size(0), before.size(0));
  EXPECT_TRUE(cd->state().empty());
}

// Chains are correlated in time, so standard errors come from 40 batches of 25 updates, far longer than the
// correlation.
TEST(Pcd, ConvergesToTheModelsMomentsAtFixedParameters) {
  const support::ThreadCount one_thread(1);
  std::vector<Setting> all = settings();
  all.push_back({"gaussian", support::randomized(make_rbm("gaussian:2", "bernoulli:2", at::kDouble), 46)});
  for (const Setting& one : all) {
    SCOPED_TRACE(one.name);
    const auto pcd = make_negative_phase("pcd", {.sweeps = 1, .particles = 200});
    std::vector<at::Tensor> batches;
    for (std::uint64_t update = 0; update < 50; ++update)  // forget the start
      static_cast<void>(pcd->model_moments(one.machine, {}, Key(47).fold_in(update)));
    for (std::uint64_t batch = 0; batch < 40; ++batch) {
      at::Tensor sum;
      for (std::uint64_t i = 0; i < 25; ++i) {
        const at::Tensor moments = pcd->model_moments(one.machine, {}, Key(47).fold_in(100 + batch * 25 + i)).flatten();
        sum = sum.defined() ? sum + moments : moments;
      }
      batches.push_back(sum / 25);
    }
    // Student's t with 39 degrees of freedom leaves ±7.3 as rarely (1e-8) as a normal variable leaves ±5.7.
    const at::Tensor repetitions = at::stack(batches);
    const at::Tensor error = (repetitions.mean(0) - exact_moments(one.machine).flatten()).abs();
    const at::Tensor standard_error = ((repetitions - repetitions.mean(0)).square().sum(0) / (40.0 * 39.0)).sqrt();
    EXPECT_TRUE(error.le(7.3 * standard_error + 1e-12).all().item<bool>()) << error << standard_error;
    EXPECT_LT(standard_error.max().item<double>(), 0.02) << "the comparison must be sharp enough to mean something";
  }
}

TEST(Pcd, ContinuesBitIdenticallyFromASavedState) {
  const BoltzmannMachine machine = settings()[2].machine;
  const auto whole = make_negative_phase("pcd", {.sweeps = 2, .particles = 13});
  for (std::uint64_t update = 0; update < 5; ++update)
    static_cast<void>(whole->model_moments(machine, {}, Key(48).fold_in(update)));
  NamedTensors saved;
  for (const auto& [name, value] : whole->state()) saved.emplace_back(name, value.clone());
  EXPECT_EQ(saved.size(), 3U);
  const auto resumed = make_negative_phase("pcd", {.sweeps = 2, .particles = 13});
  resumed->restore(saved);
  for (std::uint64_t update = 5; update < 10; ++update)
    EXPECT_TRUE(support::identical(whole->model_moments(machine, {}, Key(48).fold_in(update)),
                                   resumed->model_moments(machine, {}, Key(48).fold_in(update))));
}

TEST(Pcd, RestoredFromNothingStartsAfresh) {
  const BoltzmannMachine machine = settings()[0].machine;
  const auto fresh = make_negative_phase("pcd", {.particles = 7}),
             restored = make_negative_phase("pcd", {.particles = 7});
  EXPECT_TRUE(fresh->state().empty());
  static_cast<void>(restored->model_moments(machine, {}, Key(49)));
  restored->restore({});
  EXPECT_TRUE(
      support::identical(fresh->model_moments(machine, {}, Key(50)), restored->model_moments(machine, {}, Key(50))));
  EXPECT_EQ(fresh->particles().rows(), 7);
}

// As a checkpoint may have them that somebody has changed by hand.
TEST(Pcd, RefusesSavedChainsThatDoNotFitTheMachine) {
  const BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2", at::kDouble);
  const auto first = at::zeros({4, 3}, at::kDouble);
  for (const NamedTensors& saved : {NamedTensors{{"particles.0", first}},
                                    {{"particles.0", first}, {"particles.1", at::zeros({4, 3}, at::kDouble)}},
                                    {{"particles.0", first}, {"particles.1", at::zeros({5, 2}, at::kDouble)}},
                                    {{"particles.0", first}, {"particles.1", at::zeros({8}, at::kDouble)}}})
    for (const char* name : {"pcd", "tempered"}) {
      const auto phase = make_negative_phase(name, {.particles = 4});
      phase->restore(saved);
      support::expect_mentions(support::message_of([&] { (void)phase->model_moments(machine, {}, Key(1)); }),
                               {"saved chains", name});
    }
}

TEST(Pcd, NeverResetsItsChains) {
  // Weights so strong that a chain never changes sides: what the first update finds, the hundredth still shows.
  BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2", at::kDouble);
  machine.parameters()["visible_hidden.weights"].fill_(60);
  machine.parameters()["visible.bias"].fill_(-60);
  machine.parameters()["hidden.bias"].fill_(-60);
  const auto pcd = make_negative_phase("pcd", {.particles = 4});
  State start;
  start.layers = {at::tensor({1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0}, at::kDouble).reshape({4, 2}), {}};
  start.layers[1] = start.layers[0].clone();
  pcd->restore({{"particles.0", start.layers[0]}, {"particles.1", start.layers[1]}});
  for (std::uint64_t update = 0; update < 100; ++update)
    static_cast<void>(pcd->model_moments(machine, {}, Key(51).fold_in(update)));
  EXPECT_TRUE(at::equal(pcd->particles().layers[0], start.layers[0]));
}

TEST(MakeNegativePhase, KnowsEveryNameItLists) {
  for (const NegativePhaseType& type : negative_phases()) {
    EXPECT_EQ(make_negative_phase(type.name, {})->name(), type.name);
    EXPECT_FALSE(type.help.empty());
  }
}

// A phase without a complaint about a machine estimates its moments; one with a complaint does not.
TEST(NegativePhase, ComplainsAboutTheMachinesItCannotTrain) {
  struct Case {
    const char* what;
    BoltzmannMachine machine;
    std::vector<at::Tensor> batch;
    std::string fitting;
  };
  const at::Tensor bits = at::tensor({1.0, 0.0, 1.0, 0.0, 1.0, 1.0}, at::kDouble).reshape({2, 3});
  const std::vector<Case> cases = {
      {"an RBM",
       make_rbm("bernoulli:3", "bernoulli:2", at::kDouble),
       {bits},
       "pcd, fpcd, cd, mf_cd, pl, exact, pt, tempered"},
      {"a deep machine",
       make_chain({"bernoulli:3", "bernoulli:2", "bernoulli:2"}, at::kDouble),
       {bits},
       "pcd, fpcd, exact, pt, tempered"},
      {"pixels that are joined",
       make_mrf("bernoulli:3", at::kDouble),
       {bits},
       "pcd, fpcd, cd, pl, exact, pt, tempered"},
      {"word counts", make_rbm("counts:3", "bernoulli:2", at::kDouble), {bits * 2}, "cd, mf_cd"},
      {"real values",
       make_rbm("gaussian:3", "bernoulli:2", at::kDouble),
       {bits},
       "pcd, fpcd, cd, mf_cd, exact, pt, tempered"},
      {"too many states",
       make_rbm("bernoulli:30", "bernoulli:30", at::kDouble),
       {at::ones({2, 30}, at::kDouble)},
       "pcd, fpcd, cd, mf_cd, pl, pt, tempered"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    EXPECT_EQ(negative_phases_for(one.machine), one.fitting);
    const State data = one.machine.observe(one.batch);
    for (const NegativePhaseType& type : negative_phases()) {
      SCOPED_TRACE(type.name);
      const auto phase = make_negative_phase(type.name, {.particles = 3});
      if (!phase->complaint(one.machine).empty()) continue;
      const Moments found = phase->model_moments(one.machine, data, Key(7));
      for (const auto& [name, value] : found.entries()) EXPECT_TRUE(at::isfinite(value).all().item<bool>()) << name;
    }
  }
}

TEST(NegativePhase, ComplainsAboutMeanFieldStepsAlongEdgesInsideALayer) {
  const BoltzmannMachine field = make_mrf("bernoulli:3", at::kDouble);
  EXPECT_EQ(make_negative_phase("pcd", {})->complaint(field), "");
  support::expect_mentions(make_negative_phase("pcd", {.mean_field_steps = 2})->complaint(field),
                           {"mean_field_steps", "inside a layer"});
  support::expect_mentions(
      support::message_of([] { static_cast<void>(make_negative_phase("cd", {.mean_field_steps = 2})); }),
      {"mean_field_steps", "cd", "pcd, fpcd"});
}

TEST(MakeNegativePhase, RefusesUnknownNamesAndEmptyWork) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { static_cast<void>(make_negative_phase("adam", {})); }),
                  {"adam", "pcd", "cd", "exact"});
  expect_mentions(message_of([] { static_cast<void>(make_negative_phase("cd", {.sweeps = 0})); }), {"sweep", "0"});
  expect_mentions(message_of([] { static_cast<void>(make_negative_phase("pcd", {.particles = -1})); }),
                  {"particle", "-1"});
}

}  // namespace
}  // namespace harmonium
