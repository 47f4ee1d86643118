// Training that is driven towards machines without a finite Z stays among those that have one.
#include <gtest/gtest.h>

#include "harmonium/gradients/negative_phase.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/training/make_training.h"

namespace harmonium {
namespace {

// Columns that are nearly copies of each other: what a model of strong couplings fits best.
Dataset copied_columns() {
  const at::Tensor common = normal(Key(3).fold_in(0), {200, 1}, at::kFloat);
  Dataset data;
  data.name = "copies";
  data.values = common.expand({200, 4}) + 0.1 * normal(Key(3).fold_in(1), {200, 4}, at::kFloat);
  return data;
}

TEST(DefiniteTraining, KeepsZFiniteAtRatesThatWouldNot) {
  const Dataset data = copied_columns();
  for (const char* gradient : {"pcd", "cd"}) {
    BoltzmannMachine machine = make_rbm("gaussian:4", "gaussian:3");
    initialize(machine, Key(1), 0.1);
    const auto topology = machine.topology();
    const Moments shape = machine.parameters();
    Training training = make_training(
        machine, BatchStream(data, {.batch = 50, .binarization = Binarization::none}, Key(2)),
        make_negative_phase(gradient, {.particles = 50}), make_metric("sgd", topology, shape),
        {.rate_bias = 0.01, .rate_weights = 0.5, .schedule = Schedule::constant}, {.updates = 200, .averaging = 20});
    bool at_the_border = false;
    while (!training.finished()) {
      training.step();
      const double strength = coupling_strength(machine_of(training));
      ASSERT_LT(strength, 1) << gradient << ", update " << training.update();
      at_the_border = at_the_border || strength > strongest_coupling - 1e-4;
    }
    EXPECT_TRUE(at_the_border) << gradient << ": the rate was meant to drive it there";
    EXPECT_LT(coupling_strength(averaged_machine(training)), 1) << gradient << ", averaged";
  }
}

}  // namespace
}  // namespace harmonium
