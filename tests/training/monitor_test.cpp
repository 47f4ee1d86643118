// The numbers one watches, each against its definition on machines small enough to write out.
#include "harmonium/training/monitor.h"

#include <gtest/gtest.h>

#include "tests/support/belief_net.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

Dataset data_of(const at::Tensor& rows) { return {.name = "rows", .values = rows.to(at::kByte)}; }
Dataset all_rows(std::int64_t width) { return data_of(support::to_rows(support::all_bits(width))); }

std::map<std::string, double> measured(const BoltzmannMachine& machine, const Dataset& train,
                                       const Dataset& valid = {}) {
  return Monitor(train, valid, Binarization::none, 0, 5).measure(machine.to(at::kFloat));  // as runs have them
}

// With a single visible unit the random one is that, and its conditional is its marginal.
TEST(Monitor, PseudoLikelihoodOfOneUnitIsItsLikelihood) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:1", "bernoulli:3", at::kDouble), 1, 2.0);
  const Moments& p = machine.parameters();
  const at::Tensor with = p["visible.bias"][0] + at::softplus(p["hidden.bias"] + p["visible_hidden.weights"][0]).sum(),
                   without = at::softplus(p["hidden.bias"]).sum();
  const double log_odds = (with - without).item<double>();
  const at::Tensor rows = at::tensor({1, 0, 1}, at::kByte).view({3, 1});
  const double expected = (2 * log_odds - 3 * std::log1p(std::exp(log_odds))) / 3;
  EXPECT_NEAR(measured(machine, data_of(rows)).at("pseudo_log_likelihood"), expected, 1e-5);
}

TEST(Monitor, PseudoLikelihoodCountsEveryUnit) {
  BoltzmannMachine machine = make_rbm("bernoulli:5", "bernoulli:2", at::kDouble);
  machine.parameters()["visible.bias"].fill_(0.4);
  EXPECT_NEAR(measured(machine, data_of(at::ones({7, 5}))).at("pseudo_log_likelihood"), -5 * std::log1p(std::exp(-0.4)),
              1e-5);
}

TEST(Monitor, GapAndReconstructionAreWhatTheyAreDefinedToBe) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 2, 1.5);
  const Moments& p = machine.parameters();
  const at::Tensor& w = p["visible_hidden.weights"];
  const Dataset train = all_rows(4), valid = data_of(at::ones({3, 4}));
  const auto minus_free_energy = [&](const Dataset& data) {
    const at::Tensor v = data.values.to(at::kDouble);
    return (v.mv(p["visible.bias"]) + at::softplus(v.mm(w) + p["hidden.bias"]).sum(1)).mean().item<double>();
  };
  const at::Tensor v = valid.values.to(at::kDouble);
  const at::Tensor back = at::sigmoid(at::sigmoid(v.mm(w) + p["hidden.bias"]).mm(w.t()) + p["visible.bias"]);
  const auto metrics = measured(machine, train, valid);
  EXPECT_NEAR(metrics.at("free_energy_gap"), minus_free_energy(train) - minus_free_energy(valid), 1e-5);
  EXPECT_NEAR(metrics.at("reconstruction_error"), (v - back).square().sum().item<double>() / 3, 1e-5);
  EXPECT_FALSE(metrics.contains("awake_units")) << "a single hidden layer sees the data";
  EXPECT_FALSE(measured(machine, train).contains("free_energy_gap")) << "nothing to compare with";
}

// Two of eight upper units listen to the layer below, which copies the data.
TEST(Monitor, UnitsThatSayTheSameOfEveryRowAreAsleep) {
  BoltzmannMachine machine = make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:8"}, at::kDouble);
  machine.parameters()["visible_hidden1.weights"].copy_(8 * at::eye(3, at::kDouble));
  machine.parameters()["hidden1.bias"].fill_(-4);
  at::Tensor upper = machine.parameters()["hidden1_hidden2.weights"];
  machine.parameters()["hidden2.bias"].fill_(0.3);
  EXPECT_EQ(measured(machine, all_rows(3)).at("awake_units"), 0);
  upper.fill_(0.01);
  EXPECT_EQ(measured(machine, all_rows(3)).at("awake_units"), 0) << "a whisper";
  upper.select(1, 2).fill_(1);
  upper.select(1, 5).fill_(-1);
  EXPECT_EQ(measured(machine, all_rows(3)).at("awake_units"), 0.25);
  EXPECT_EQ(measured(machine, data_of(at::ones({4, 3}))).at("awake_units"), 0) << "rows do not differ";
  EXPECT_EQ(measured(machine, all_rows(3), data_of(at::ones({4, 3}))).at("awake_units"), 0) << "nor validation rows";
}

TEST(Monitor, ALayerBelowALabelIsNoUpperLayer) {
  const BoltzmannMachine machine =
      support::randomized(make_labelled_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, 4, at::kDouble), 3);
  Dataset data = all_rows(3);
  data.labels = at::remainder(at::arange(8, at::kLong), 4);
  const auto metrics = Monitor(data, {}, Binarization::none, 4, 5).measure(machine.to(at::kFloat));
  EXPECT_TRUE(metrics.contains("classification_error"));
  EXPECT_FALSE(metrics.contains("awake_units"));
}

}  // namespace
}  // namespace harmonium
