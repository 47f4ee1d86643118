// Fast weights, mean-field chains and growing numbers of sweeps, each against the formula that defines it.
#include "harmonium/gradients/fpcd.h"

#include <gtest/gtest.h>

#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/gradients/mean_field_cd.h"
#include "harmonium/samplers/gibbs.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::identical;
using support::randomized;

// Strong weights, so that chains which differ do not meet by themselves.
BoltzmannMachine strong_machine() { return randomized(make_rbm("bernoulli:6", "bernoulli:5", at::kDouble), 11, 2.0); }

Moments some_gradient(const BoltzmannMachine& machine, std::uint64_t seed) {
  return randomized(machine.to(at::kDouble), seed, 0.3).parameters();
}

TEST(Fpcd, WithoutAFastRateIsPcdBitByBit) {
  for (const BoltzmannMachine& machine :
       {strong_machine(), randomized(make_classification_rbm("bernoulli:4", 3, "bernoulli:3", at::kDouble), 12),
        randomized(make_rbm("gaussian:3", "bernoulli:3", at::kDouble), 13)}) {
    const auto pcd = make_negative_phase("pcd", {.particles = 9}),
               fpcd = make_negative_phase("fpcd", {.particles = 9, .fast_rate = 0});
    for (std::uint64_t update = 0; update < 20; ++update) {
      EXPECT_TRUE(identical(pcd->model_moments(machine, {}, Key(14).fold_in(update)),
                            fpcd->model_moments(machine, {}, Key(14).fold_in(update))));
      fpcd->observe_gradient(some_gradient(machine, update));
    }
    EXPECT_TRUE(at::equal(pcd->particles().layers[0], fpcd->particles().layers[0]));
  }
}

TEST(Fpcd, OverlaysWhatItHasLearntLately) {
  const BoltzmannMachine machine = strong_machine();
  Fpcd fpcd({.particles = 9, .fast_rate = 0.2, .fast_decay = 0.9});
  const auto pcd = make_negative_phase("pcd", {.particles = 9});
  Moments expected = machine.parameters().zeros_like();
  for (std::uint64_t update = 0; update < 6; ++update) {
    // The chains are those of PCD on the overlaid machine.
    const BoltzmannMachine overlaid = machine.with_parameters(machine.parameters() + expected);
    support::expect_close(fpcd.model_moments(machine, {}, Key(15).fold_in(update)),
                          pcd->model_moments(overlaid, {}, Key(15).fold_in(update)), 1e-12);
    const Moments gradient = some_gradient(machine, update);
    fpcd.observe_gradient(gradient);
    expected = 0.9 * expected + 0.2 * gradient;
    support::expect_close(fpcd.overlay(), expected, 1e-12);
  }
}

TEST(Fpcd, ContinuesBitIdenticallyFromASavedState) {
  const BoltzmannMachine machine = strong_machine();
  const auto whole = make_negative_phase("fpcd", {.particles = 13, .fast_rate = 0.5});
  const auto step = [&](NegativePhase& phase, std::uint64_t update) {
    Moments moments = phase.model_moments(machine, {}, Key(16).fold_in(update));
    phase.observe_gradient(some_gradient(machine, update));
    return moments;
  };
  for (std::uint64_t update = 0; update < 5; ++update) static_cast<void>(step(*whole, update));
  NamedTensors saved;
  for (const auto& [name, value] : whole->state()) saved.emplace_back(name, value.clone());
  const auto resumed = make_negative_phase("fpcd", {.particles = 13, .fast_rate = 0.5});
  resumed->restore(saved);
  for (std::uint64_t update = 5; update < 10; ++update)
    EXPECT_TRUE(identical(step(*whole, update), step(*resumed, update)));
}

TEST(Fpcd, RefusesRatesThatMakeNoSense) {
  const auto complaint = [](const NegativePhaseOptions& options) {
    return support::message_of([&] { static_cast<void>(make_negative_phase("fpcd", options)); });
  };
  support::expect_mentions(complaint({.fast_rate = -1}), {"fast rate", "-1"});
  support::expect_mentions(complaint({.fast_decay = 1}), {"decay", "1"});
  support::expect_mentions(complaint({.sweeps_final = -2}), {"-2"});
}

TEST(MeanFieldCd, IsTheChainOfMeans) {
  const BoltzmannMachine machine = strong_machine();
  const at::Tensor v = machine.independent_sample(Key(17), 8).layers[0];
  const Moments& p = machine.parameters();
  const at::Tensor& w = p["visible_hidden.weights"];
  const auto up = [&](const at::Tensor& x) { return at::sigmoid(x.mm(w) + p["hidden.bias"]); };
  const auto down = [&](const at::Tensor& h) { return at::sigmoid(h.mm(w.t()) + p["visible.bias"]); };
  for (const int k : {1, 3}) {
    at::Tensor x = v;
    for (int sweep = 0; sweep < k; ++sweep) x = down(up(x));
    const Moments moments =
        make_negative_phase("mf_cd", {.sweeps = k})->model_moments(machine, machine.observe({v}), Key(18));
    support::expect_close(moments["visible.bias"], x.mean(0), 1e-12);
    support::expect_close(moments["hidden.bias"], up(x).mean(0), 1e-12);
    support::expect_close(moments["visible_hidden.weights"], x.t().mm(up(x)) / 8, 1e-12);
  }
}

TEST(MeanFieldCd, HasNoNoiseAndWorksOnEveryShallowMachine) {
  for (const support::MachineCase& one : support::shallow_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    std::vector<at::Tensor> values;
    for (const std::size_t layer : machine.observed())
      values.push_back(machine.independent_sample(Key(19), 5).layers[layer]);
    const auto phase = make_negative_phase("mf_cd", {.sweeps = 2});
    const Moments first = phase->model_moments(machine, machine.observe(values), Key(20));
    EXPECT_TRUE(identical(first, phase->model_moments(machine, machine.observe(values), Key(21))));
    EXPECT_TRUE(at::isfinite(first.flatten()).all().item<bool>());
  }
}

// Block after block: the layers 0 and 2 given the draws of 1, then 1 given their means.
TEST(MeanFieldSteps, LeadFromTheChainsToMeans) {
  const BoltzmannMachine machine =
      randomized(make_chain({"bernoulli:4", "bernoulli:3", "bernoulli:2"}, at::kDouble), 21, 1.5);
  const Moments& p = machine.parameters();
  const at::Tensor &lower = p["visible_hidden1.weights"], &upper = p["hidden1_hidden2.weights"];
  for (const int steps : {1, 3}) {
    const auto drawn = make_negative_phase("pcd", {.sweeps = 2, .particles = 7}),
               meant = make_negative_phase("pcd", {.sweeps = 2, .mean_field_steps = steps, .particles = 7});
    for (std::uint64_t update = 0; update < 3; ++update) {
      const Key key = Key(22).fold_in(update);
      (void)drawn->model_moments(machine, {}, key);
      const Moments moments = meant->model_moments(machine, {}, key);
      for (std::size_t layer = 0; layer < 3; ++layer)
        ASSERT_TRUE(at::equal(meant->particles().layers[layer], drawn->particles().layers[layer])) << "chains go on";
      at::Tensor h1 = drawn->particles().layers[1], v, h2;
      for (int step = 0; step < steps; ++step) {
        v = at::sigmoid(h1.mm(lower.t()) + p["visible.bias"]);
        h2 = at::sigmoid(h1.mm(upper) + p["hidden2.bias"]);
        h1 = at::sigmoid(v.mm(lower) + h2.mm(upper.t()) + p["hidden1.bias"]);
      }
      support::expect_close(moments["visible.bias"], v.mean(0), 1e-12);
      support::expect_close(moments["hidden1.bias"], h1.mean(0), 1e-12);
      support::expect_close(moments["hidden2.bias"], h2.mean(0), 1e-12);
      support::expect_close(moments["visible_hidden1.weights"], v.t().mm(h1) / 7, 1e-12);
      support::expect_close(moments["hidden1_hidden2.weights"], h1.t().mm(h2) / 7, 1e-12);
    }
  }
}

// Without weights units are independent, and means after a step are those of the model whatever the chains are at.
TEST(MeanFieldSteps, AreExactForUnitsThatAreIndependent) {
  for (const support::MachineCase& one : support::all_machines()) {
    SCOPED_TRACE(one.name);
    BoltzmannMachine machine = one.make();
    for (const EdgeInfo& edge : machine.topology().edges) machine.parameters()[edge.weights].zero_();
    const auto phase = make_negative_phase("pcd", {.mean_field_steps = 1, .particles = 3});
    support::expect_close(phase->model_moments(machine, {}, Key(23)), exact_moments(machine), 1e-12);
  }
}

TEST(MeanFieldSteps, AreRefusedWhereTheyMeanNothing) {
  for (const std::string name : {"cd", "mf_cd", "pl", "exact", "pt", "tempered"})
    support::expect_mentions(support::message_of([&] { (void)make_negative_phase(name, {.mean_field_steps = 1}); }),
                             {"mean_field_steps", name, "pcd, fpcd"});
  const BoltzmannMachine field = support::inner_machines()[0].make();
  const auto phase = make_negative_phase("pcd", {.mean_field_steps = 1, .particles = 3});
  support::expect_mentions(support::message_of([&] { (void)phase->model_moments(field, {}, Key(24)); }),
                           {"mean-field", "inside a layer"});
}

TEST(Sweeps, GrowGeometricallyFromFirstToLast) {
  const NegativePhaseOptions growing{.sweeps = 1, .sweeps_final = 100};
  EXPECT_EQ(growing.sweeps_at(0), 1);
  EXPECT_EQ(growing.sweeps_at(0.5), 10);
  EXPECT_EQ(growing.sweeps_at(1), 100);
  EXPECT_EQ(NegativePhaseOptions{.sweeps = 7}.sweeps_at(0.9), 7);
  // Told that training is over, CD makes the sweeps of the end.
  const BoltzmannMachine machine = strong_machine();
  const State data = machine.observe({machine.independent_sample(Key(22), 6).layers[0]});
  const auto few = make_negative_phase("cd", {.sweeps = 1, .sweeps_final = 5}),
             five = make_negative_phase("cd", {.sweeps = 5});
  few->at_fraction(1);
  EXPECT_TRUE(identical(few->model_moments(machine, data, Key(23)), five->model_moments(machine, data, Key(23))));
}

}  // namespace
}  // namespace harmonium
