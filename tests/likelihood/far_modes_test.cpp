#include "harmonium/models/far_modes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/samplers/exact_sample.h"

namespace harmonium {
namespace {

// 2^13 hidden states: enumerated in no time.
const FarModesOptions small{.visible = 60, .free_visible = 0, .units_per_mode = 6, .other_units = 1, .reward = 9};

TEST(FarModes, HoldNearlyAllTheProbabilityAndBothTheSame) {
  const BoltzmannMachine machine = make_far_modes(small);
  constexpr std::int64_t rows = 4000;
  const at::Tensor v = exact_sample(machine, Key(1), rows).layers[0];
  const at::Tensor w = machine.parameters()["visible_hidden.weights"].select(1, 0);
  // +30 at the pattern, −30 at its opposite; a state of neither mode is near 0.
  const at::Tensor overlap = at::mv(v - 0.5, w).mul(2);
  EXPECT_GT(overlap.abs().gt(20).to(at::kDouble).mean().item<double>(), 0.99);
  // 4.5 standard errors of a fair coin: false-alarm rate 7e-6.
  EXPECT_NEAR(overlap.gt(0).to(at::kDouble).mean().item<double>(), 0.5, 4.5 * 0.5 / std::sqrt(rows));
}

TEST(FarModes, FoolAisWithoutATraceInItsWeights) {
  const BoltzmannMachine machine = make_far_modes(small);
  const AnnealingPath path(uniform_base(machine), {machine}, linear_schedule(300));
  const Estimate log_z = ais(path, 100, {.seed = 2}).log_z;
  const double exact = exact_log_z(machine).value;
  EXPECT_LT(log_z.high, exact - 5) << "the interval is far from the truth";
  EXPECT_GT(*log_z.effective_samples, 90) << "and the weights look well";
}

}  // namespace
}  // namespace harmonium
