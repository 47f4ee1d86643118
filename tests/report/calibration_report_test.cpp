#include "harmonium/report/calibration_report.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace harmonium {
namespace {

// `covered` of 100 machines are in their intervals; at the two numbers of β the biases are as promised.
Calibration calibration(int covered) {
  Calibration result{.options = {.machines = 100, .ladder = {1, 10}}, .machines = {}};
  for (int i = 0; i < 100; ++i) {
    const double low = i < covered ? -1 : 0.1, noise = i % 2 == 0 ? 0.1 : -0.1;
    const Estimate interval{.value = 0, .low = low, .high = 1, .method = "ais"};
    result.machines.push_back({.stiffness = 0.1 + 0.01 * i,
                               .log_z = 0,
                               .ais = interval,
                               .reverse_ais = interval,
                               .forward = {-1 + noise, -0.5 + noise},
                               .reverse = {1 + noise, 0.5 + noise},
                               .raise = {-2 + noise, -1 + noise}});
  }
  return result;
}

std::vector<std::string> broken(const Calibration& one) {
  std::vector<std::string> names;
  for (const Promise& each : promises(one))
    if (!each.kept) names.push_back(each.what);
  return names;
}

TEST(CalibrationReport, KeptPromisesAreKept) {
  EXPECT_EQ(promises(calibration(95)).size(), 2U + 6 + 1);
  EXPECT_EQ(broken(calibration(95)), std::vector<std::string>{});
  EXPECT_DOUBLE_EQ(promises(calibration(95))[0].value, 95);
}

TEST(CalibrationReport, IntervalsThatAreTooShortOrTooLongBreakTheirPromise) {
  EXPECT_EQ(broken(calibration(89)).size(), 2U);
  EXPECT_EQ(broken(calibration(100)).size(), 2U);
}

TEST(CalibrationReport, AMeanOnTheWrongSideBreaksItsPromise) {
  Calibration one = calibration(95);
  for (CalibratedMachine& machine : one.machines) machine.forward[1] += 0.6;
  EXPECT_EQ(broken(one), std::vector<std::string>{"AIS, 10 β: mean difference to the exact value"});
  one = calibration(95);
  for (CalibratedMachine& machine : one.machines) machine.reverse[0] -= 1.1;
  EXPECT_EQ(broken(one), std::vector<std::string>{"reverse AIS, 1 β: mean difference to the exact value"});
  one = calibration(95);
  for (CalibratedMachine& machine : one.machines) machine.raise[0] += 1.5;
  ASSERT_EQ(broken(one).size(), 1U);
  EXPECT_TRUE(broken(one)[0].starts_with("RAISE: the smallest rise of its mean"));
}

TEST(CalibrationReport, AMeanWithinItsNoiseBreaksNothing) {
  Calibration one = calibration(95);
  // Standard error 0.01: at +0.02 the mean is two of them above zero.
  for (CalibratedMachine& machine : one.machines) machine.forward[1] += 0.52;
  EXPECT_EQ(broken(one), std::vector<std::string>{});
}

TEST(CalibrationReport, APointIsBetweenTheLinesWhereItsIntervalHoldsTheTruth) {
  const Calibration one = calibration(93);
  const Chart chart = calibration_report(one).charts.front();
  const auto inside = std::ranges::count_if(chart.series.front().y, [](double y) { return std::abs(y) <= 1; });
  EXPECT_EQ(inside, one.covered(&CalibratedMachine::ais));
  EXPECT_NE(render_report(calibration_report(one)).find("key s1 unjoined"), std::string::npos);
}

}  // namespace
}  // namespace harmonium
