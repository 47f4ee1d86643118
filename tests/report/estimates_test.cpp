#include "harmonium/report/estimates.h"

#include <gtest/gtest.h>

#include <limits>

namespace harmonium {
namespace {

TEST(Estimates, DigitsFollowTheInterval) {
  Estimate estimate{-89.31234, -89.6201, -89.0199, EstimateKind::estimate, "ais", 0, 0, std::nullopt};
  EXPECT_EQ(describe(estimate).value, "−89.31");
  estimate = {-89.31234, -120.0, -58.0, EstimateKind::estimate, "ais", 0, 0, std::nullopt};
  EXPECT_EQ(describe(estimate).value, "−89");
  estimate = {-89.312345, -89.3124, -89.3123, EstimateKind::estimate, "ais", 0, 0, std::nullopt};
  EXPECT_EQ(describe(estimate).value, "−89.312345");
}

TEST(Estimates, AnIntervalIsRoundedOutwards) {
  const Estimate estimate{10.0, 9.801, 10.199, EstimateKind::estimate, "ais", 0, 0, std::nullopt};
  EXPECT_EQ(describe(estimate).interval, "[9.80, 10.20]");
}

TEST(Estimates, AnExactNumberShowsItselfAsItsInterval) {
  const Estimate exact{72.685839, 72.685839, 72.685839, EstimateKind::exact, "exact", 0, 0, std::nullopt};
  EXPECT_EQ(describe(exact).value, "72.6858");
  EXPECT_EQ(describe(exact).interval, "[72.6858, 72.6858]");
  EXPECT_EQ(headline(exact), "72.6858 nats  [72.6858, 72.6858]  exact");
}

TEST(Estimates, AnOpenIntervalAndAMissingValueAreSaidSo) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Estimate bound{-100.25, -infinity, -99.5, EstimateKind::lower_bound, "raise", 0, 0, std::nullopt};
  EXPECT_EQ(describe(bound).interval, "[−∞, −99.50]");
  const Estimate missing{std::numeric_limits<double>::quiet_NaN(), -1, 1, EstimateKind::estimate, "ais", 0, 0, {}};
  EXPECT_EQ(describe(missing).value, "n/a");
}

TEST(Estimates, TheMethodNamesChainsTemperaturesAndEffectiveSamples) {
  const Estimate estimate{1, 0.5, 1.5, EstimateKind::unbiased_estimate, "ais", 100, 10000, 61.375};
  EXPECT_EQ(describe(estimate).method, "ais, 100 chains × 10\u202f000 β, effective sample size 61.4");
}

TEST(Estimates, EveryRowShowsValueIntervalKindAndMethodTogether) {
  const EstimateRow row{"log-likelihood, <test>",
                        {-21.3, -21.5, -21.1, EstimateKind::upper_bound, "reverse & forward", 8, 0, std::nullopt},
                        "10 \"images\""};
  const std::string html = render_estimates({row});
  const auto tr = html.find("<tbody>");
  std::size_t at = tr;
  for (const char* part : {"log-likelihood, &lt;test&gt;", "10 &quot;images&quot;", "−21.30", "[−21.50, −21.10]",
                           "upper bound", "reverse &amp; forward, 8 chains"}) {
    at = html.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << " is missing or out of order";
  }
  EXPECT_NE(html.find("on average not below the true number"), std::string::npos);
}

}  // namespace
}  // namespace harmonium
