#include "harmonium/likelihood/sandwich.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_mentions;

Sandwich between(double lower, double upper, double half_width = 0.05, const std::string& method = "raise") {
  return {{.value = lower, .low = lower - half_width, .high = lower + half_width, .method = "ais"},
          {.value = upper, .low = upper - half_width, .high = upper + half_width, .method = method}};
}

TEST(Verdict, TrustsTwoThatAgree) {
  EXPECT_EQ(verdict(between(970.1, 970.5), 885.6, 0.5), "AIS and RAISE agree within 0.4 nat: trust −84.50");
  expect_mentions(verdict(between(72.68, 72.69, 0.05, "reverse ais from exact draws"), std::nullopt, 0.5),
                  {"AIS and reverse AIS agree", "log Z = 72.680"});
}

TEST(Verdict, SaysByHowMuchTwoDifferAndWhatToDo) {
  const std::string words = verdict(between(900, 944), 815.5, 0.5);
  expect_mentions(words, {"they differ by 44 nats", "AIS is overestimating", "−128.5", "−84.5", "more β"});
  EXPECT_LT(words.find("−128.5"), words.find("−84.5")) << "the lower first";
  const std::string log_z = verdict(between(900, 944), std::nullopt, 0.5);
  expect_mentions(log_z, {"44 nats", "between 900.0 and 944.0"});
}

TEST(Verdict, KnowsNoiseFromDisagreement) {
  expect_mentions(verdict(between(100, 101, 3), 50, 0.5), {"noise of 4.2 nats", "−50", "chains"});
  expect_mentions(verdict(between(101, 100, 3), 50, 0.5), {"agree within their noise"});
  // However near each other by chance: no closer than the noise.
  expect_mentions(verdict(between(100, 100.1, 3), 50, 0.5), {"noise of 4.2 nats"});
  expect_mentions(verdict(between(100, 100.1, 0.2), 50, 0.5), {"agree within 0.3 nat"});
}

TEST(Verdict, NamesAContradiction) {
  expect_mentions(verdict(between(104, 100), 50, 0.5), {"contradict", "4.0 nats", "chains"});
}

TEST(Verdict, OfThreeNamesModesThatTheDataDoNotKnow) {
  const auto log_z = [](double value, const std::string& method) {
    return Estimate{.value = value, .low = value - 0.05, .high = value + 0.05, .method = method};
  };
  const Estimate ais = log_z(100, "ais"), raise = log_z(100.2, "raise");
  const auto of = [&](double raised, double reversed) {
    return verdict(ais, log_z(raised, "raise"), log_z(reversed, "reverse ais from exact draws"), 50, 0.5);
  };
  EXPECT_EQ(of(100.2, 100.3), verdict(Sandwich{ais, raise}, 50, 0.5)) << "all agree";
  EXPECT_EQ(of(100.2, 90), verdict(Sandwich{ais, raise}, 50, 0.5)) << "a smaller bound from above adds nothing";
  expect_mentions(of(100.2, 112), {"AIS and RAISE agree", "higher by up to 12 nats", "modes that the data do not know",
                                   "Do not trust −50"});
  expect_mentions(of(120, 112), {"they differ by 20 nats", "RAISE"});
  expect_mentions(of(104, 112), {"they differ by 12 nats", "reverse AIS"});
}

TEST(Warning, SpeaksWhereTheWeightsAreBadOnly) {
  Estimate estimate;
  estimate.chains = 100;
  estimate.effective_samples = 60;
  estimate.pareto_k = 0.4;
  EXPECT_EQ(warning(estimate), "");
  estimate.pareto_k = 0.9;
  expect_mentions(warning(estimate), {"Pareto k = 0.90", "more β"});
  estimate.effective_samples = 4.2;
  expect_mentions(warning(estimate), {"4.2 of 100", "likelihood too high", "more β"});
}

}  // namespace
}  // namespace harmonium
