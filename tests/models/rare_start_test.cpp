// Hidden units that begin as rare components beside gaussian visible ones.
#include "harmonium/models/rare_start.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
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
    start_rare(machine, Key(3), rare_start_scale(3, 4), share);
    at::Tensor weights;
    for_each_state(machine, plan_enumeration(machine, 10),
                   [&](const State&, const at::Tensor& log_weight) { weights = log_weight.exp(); });
    for (const std::int64_t alone : {1, 2, 4, 8})
      EXPECT_NEAR((weights[alone] / weights[0]).item<double>(), share, 1e-12) << visible << ", state " << alone;
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

TEST(RareStart, IsForGaussianVisibleAndBinaryHiddenUnits) {
  EXPECT_TRUE(has_rare_start(make_rbm("gaussian:3", "bernoulli:2")));
  EXPECT_TRUE(has_rare_start(make_rbm("gaussian:3:fixed", "bernoulli:2")));
  EXPECT_FALSE(has_rare_start(make_rbm("bernoulli:3", "bernoulli:2")));
  EXPECT_FALSE(has_rare_start(make_rbm("gaussian:3", "spike_slab:2")));
  EXPECT_FALSE(has_rare_start(make_chain({"gaussian:3", "bernoulli:2", "bernoulli:2"})));
}

}  // namespace
}  // namespace harmonium
