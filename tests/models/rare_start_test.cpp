// Hidden units that begin as rare components beside gaussian visible ones.
#include "harmonium/models/rare_start.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {
namespace {

// By enumeration of the hidden states: e^{−E} with the visible units integrated out.
TEST(RareStart, GivesEveryUnitAloneTheShareOfTheStateWithoutAny) {
  for (const char* visible : {"gaussian:3", "gaussian:3:scalar"}) {
    BoltzmannMachine machine = make_rbm(visible, "bernoulli:4", at::kDouble);
    Moments& parameters = machine.parameters();
    parameters["visible.bias"].copy_(normal(Key(1), {3}, at::kDouble));
    parameters["visible.precision"].copy_(0.5 + uniform(Key(2), parameters["visible.precision"].sizes(), at::kDouble));
    constexpr double share = 0.02;
    start_rare(machine, Key(3), *rare_start_scale(3, machine.unit(1)), share);
    at::Tensor weights;
    for_each_state(machine, plan_enumeration(machine, 10),
                   [&](const State&, const at::Tensor& log_weight) { weights = log_weight.exp(); });
    for (const std::int64_t alone : {1, 2, 4, 8})
      EXPECT_NEAR((weights[alone] / weights[0]).item<double>(), share, 1e-12) << visible << ", state " << alone;
  }
}

// One value and one spike, by quadrature: the density with the unit summed out, less the Gaussian without it.
TEST(RareStart, GivesASpikeTheShareOfTheStateWithoutAny) {
  BoltzmannMachine machine = make_rbm("gaussian:1", "spike_slab:1", at::kDouble);
  Moments& parameters = machine.parameters();
  parameters["visible.bias"].fill_(0.7);
  parameters["visible.precision"].fill_(1.3);
  parameters["hidden.bias"].fill_(-0.4);
  parameters["hidden.precision"].fill_(2);
  constexpr double share = 0.03;
  start_rare(machine, Key(5), 0.8, share);
  const at::Tensor v = at::linspace(-15, 15, 6001, at::kDouble).unsqueeze(1);
  const at::Tensor none = (0.7 * v - 0.65 * v.square()).squeeze(1).exp();
  const Unit::Parameters own = {parameters["hidden.bias"], parameters["hidden.precision"], parameters["hidden.spike"]};
  const at::Tensor field = own[0] + v.matmul(parameters["visible_hidden.weights"]);
  const at::Tensor both = none * machine.unit(1).log_partition(field, own).exp();
  EXPECT_NEAR((both.sum() / none.sum()).item<double>(), 1 + share, 1e-9);
}

// Units are rare and Z is finite: the certificate of training would change nothing.
TEST(RareStart, LeavesSpikeAndSlabMachinesDefinite) {
  for (const char* hidden : {"spike_slab:30", "spike_slab:300", "spike_slab:20x4"}) {
    BoltzmannMachine machine = make_rbm("gaussian:50", hidden, at::kDouble);
    machine.parameters()["visible.precision"].fill_(0.01);
    machine.parameters()["visible.bias"].copy_(0.02 * normal(Key(6), {50}, at::kDouble));
    start_rare(machine, Key(7), *rare_start_scale(50, machine.unit(1)));
    EXPECT_LT(coupling_strength(machine), 0.8) << hidden;
    EXPECT_GT(coupling_strength(machine), 0.4) << hidden;
  }
}

TEST(RareStart, DrawsWeightsInUnitsOfTheDeviation) {
  BoltzmannMachine machine = make_rbm("gaussian:100", "bernoulli:200", at::kDouble);
  machine.parameters()["visible.precision"].fill_(1e-2);
  start_rare(machine, Key(3), 0.5);
  // 20 000 draws: five standard errors of a deviation, false alarms less than one in a million.
  EXPECT_NEAR(machine.parameters()["visible_hidden.weights"].std().item<double>(), 0.05,
              5 * 0.05 / std::sqrt(40'000.0));
}

TEST(RareStart, IsForGaussianVisibleAndBinaryOrSpikeAndSlabHiddenUnits) {
  EXPECT_TRUE(has_rare_start(make_rbm("gaussian:3", "bernoulli:2")));
  EXPECT_TRUE(has_rare_start(make_rbm("gaussian:3:fixed", "bernoulli:2")));
  EXPECT_FALSE(has_rare_start(make_rbm("bernoulli:3", "bernoulli:2")));
  EXPECT_TRUE(has_rare_start(make_rbm("gaussian:3", "spike_slab:2")));
  EXPECT_TRUE(has_rare_start(make_rbm("gaussian:3", "spike_slab:2x3")));
  EXPECT_FALSE(has_rare_start(make_rbm("gaussian:3", "gaussian:2")));
  EXPECT_FALSE(has_rare_start(make_chain({"gaussian:3", "bernoulli:2", "bernoulli:2"})));
}

}  // namespace
}  // namespace harmonium
