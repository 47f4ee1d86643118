// 200 random machines of varied stiffness: intervals cover as often as they say, bounds are bounds and tighten.
#include "harmonium/likelihood/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

class Calibration : public testing::Test {
 protected:
  static const std::vector<CalibratedMachine>& all() {
    static const std::vector<CalibratedMachine> result = [] {
      const support::ThreadCount one_thread(1);
      return calibrate({.betas = 500});
    }();
    return result;
  }
  // Mean over the machines of one column, and its standard error.
  struct Mean {
    double value = 0, error = 0;
  };
  template <class Column>
  static Mean mean(Column column) {
    double sum = 0, squares = 0;
    for (const CalibratedMachine& one : all()) {
      sum += column(one);
      squares += column(one) * column(one);
    }
    const auto n = static_cast<double>(all().size());
    return {sum / n, std::sqrt((squares / n - sum * sum / n / n) / (n - 1))};
  }
  static constexpr std::size_t rungs = 5;
};

// If each interval covers with probability 0.95, fewer than 180 or more than 198 of 200 do so with probability 1e-3,
// for each of the two methods.
TEST_F(Calibration, IntervalsCoverTheExactValueAsOftenAsTheySay) {
  for (const auto estimate : {&CalibratedMachine::ais, &CalibratedMachine::reverse_ais}) {
    int covered = 0;
    for (const CalibratedMachine& one : all()) covered += one.covered_by(one.*estimate) ? 1 : 0;
    EXPECT_GE(covered, 180) << (all()[0].*estimate).method;
    EXPECT_LE(covered, 198) << (all()[0].*estimate).method;
  }
}

// A mean may stray to the wrong side by 5.5 standard errors (false-alarm rate 4e-8 for each), since with many β the
// biases vanish into the noise. With one step they must show, by three standard errors, or the test would have no
// teeth.
TEST_F(Calibration, AisIsLowAndItsReverseHighOnAverage) {
  for (std::size_t rung = 0; rung < rungs; ++rung) {
    const Mean forward = mean([&](const CalibratedMachine&one) { return one.forward[rung]; }),
               reverse = mean([&](const CalibratedMachine&one) { return one.reverse[rung]; });
    EXPECT_LT(forward.value, 5.5 * forward.error);
    EXPECT_GT(reverse.value, -5.5 * reverse.error);
    if (rung == 0) {
      EXPECT_LT(forward.value, -3 * forward.error) << "the bias of one step must show";
      EXPECT_GT(reverse.value, 3 * reverse.error);
    }
  }
}

// Bounds on average over rows drawn from the model are bounds for any number of steps. Each rung has four times the
// steps of the one before; its gap is smaller by many standard errors.
TEST_F(Calibration, RaiseIsALowerBoundThatTightensWithEveryRung) {
  double before = -INFINITY;
  for (std::size_t rung = 0; rung < rungs; ++rung) {
    const Mean gap = mean([&](const CalibratedMachine& one) { return one.raise[rung]; });
    EXPECT_LT(gap.value, 0) << rung;
    EXPECT_GT(gap.value, before) << rung;
    before = gap.value;
  }
  EXPECT_GT(before, -0.3) << "the finest rung must be near";
}

TEST(CalibrationMachine, GrowsStifferWithItsNumber) {
  const CalibrationOptions options{.machines = 3, .weakest = 0.5, .stiffest = 2};
  const auto deviation = [&](std::int64_t i) {
    return calibration_machine(options, i).parameters()["visible_hidden.weights"].std().item<double>();
  };
  // 80 normal weights: their deviation is right to 8 %, four times that is allowed.
  for (const auto& [i, expected] : {std::pair(0, 0.5), std::pair(1, 1.0), std::pair(2, 2.0)})
    EXPECT_NEAR(deviation(i), expected, 0.32 * expected);
  EXPECT_THROW(static_cast<void>(calibrate({.weakest = 0})), Error);
}

}  // namespace
}  // namespace harmonium
