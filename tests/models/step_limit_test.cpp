// How far one step may carry machines of real values.
#include "harmonium/models/step_limit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"

namespace harmonium {
namespace {

// Precisions 0.25 to 4, biases and weights of any size.
BoltzmannMachine some_machine(const char* visible, const char* hidden) {
  BoltzmannMachine machine = make_rbm(visible, hidden, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : machine.parameters().entries()) {
    at::Tensor target = value;
    const at::Tensor noise = normal(Key(3).fold_in(i++), value.sizes(), at::kDouble);
    target.copy_(name.ends_with("precision") ? noise.clamp(-1.4, 1.4).exp() : noise);
  }
  return machine;
}

// A step of this size in a random direction; gives the parameters before.
Moments step(BoltzmannMachine& machine, double size) {
  Moments before = machine.parameters().clone();
  for (std::uint64_t i = 0; const auto& [name, value] : machine.parameters().entries())
    at::Tensor(value).add_(normal(Key(4).fold_in(i++), value.sizes(), at::kDouble), size);
  return before;
}

TEST(StepLimit, ActsWhereALayerHasPrecisions) {
  EXPECT_TRUE(StepLimit::acts_on(make_rbm("gaussian:3", "bernoulli:2")));
  EXPECT_TRUE(StepLimit::acts_on(make_rbm("bernoulli:3", "spike_slab:2")));
  EXPECT_FALSE(StepLimit::acts_on(make_rbm("bernoulli:3", "bernoulli:2")));
}

TEST(StepLimit, LeavesShortStepsAsTheyAreBitByBit) {
  BoltzmannMachine machine = some_machine("gaussian:4", "bernoulli:3");
  StepLimit limit;
  limit.before_step(machine);
  (void)step(machine, 1e-3);
  const Moments after = machine.parameters().clone();
  limit.after_step_(machine);
  for (const auto& [name, value] : machine.parameters().entries()) EXPECT_TRUE(at::equal(value, after[name])) << name;
}

// The changes allowed are written out once more, and the largest of them is met.
TEST(StepLimit, ShortensALongStepToATenthAndKeepsItsDirection) {
  for (const char* hidden : {"bernoulli:3", "gaussian:3", "spike_slab:3"}) {
    BoltzmannMachine machine = some_machine("gaussian:4", hidden);
    StepLimit limit;
    limit.before_step(machine);
    const Moments before = step(machine, 2);
    const Moments wanted = machine.parameters() - before;
    limit.after_step_(machine);
    const Moments done = machine.parameters() - before;
    const double factor = norm(done) / norm(wanted);
    EXPECT_LT(norm(done - factor * wanted), 1e-12) << hidden;
    const bool real = std::string_view(hidden) != "bernoulli:3";
    const at::Tensor v = before["visible.precision"], ones = at::ones({3}, at::kDouble),
                     h = real ? before["hidden.precision"] : ones;
    double largest = (done["visible.precision"].abs() / v).max().item<double>();
    largest = std::max(largest, (done["visible.bias"].abs() / v.sqrt()).max().item<double>());
    largest = std::max(largest,
                       (done["visible_hidden.weights"].abs() / v.unsqueeze(1).sqrt() / h.sqrt()).max().item<double>());
    if (real) {
      largest = std::max(largest, (done["hidden.precision"].abs() / h).max().item<double>());
      largest = std::max(largest, (done["hidden.bias"].abs() / h.sqrt()).max().item<double>());
    }
    EXPECT_NEAR(largest, 0.1, 1e-6) << hidden;
  }
}

TEST(StepLimit, LeavesNumbersThatAreNotFiniteToOthers) {
  BoltzmannMachine machine = some_machine("gaussian:4", "bernoulli:3");
  StepLimit limit;
  limit.before_step(machine);
  machine.parameters()["visible.bias"].fill_(std::nan(""));
  limit.after_step_(machine);
  EXPECT_TRUE(machine.parameters()["visible.bias"].isnan().all().item<bool>());
}

}  // namespace
}  // namespace harmonium
