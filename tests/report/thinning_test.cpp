#include "harmonium/report/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/core/key.h"

namespace harmonium {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double unbounded = std::numeric_limits<double>::infinity();

Series random_curve(std::size_t points) {
  Series series;
  series.name = "random";
  for (std::size_t i = 0; i < points; ++i) {
    const PhiloxBlock block = Key(5).block(i);
    series.x.push_back(static_cast<double>(i + 1));
    series.y.push_back(to_unit_float(block[0]));
    series.low.push_back(series.y.back() - to_unit_float(block[1]));
    series.high.push_back(series.y.back() + to_unit_float(block[2]));
  }
  return series;
}

void expect_points_of(const Series& thinned, const Series& whole) {
  for (std::size_t i = 0; i < thinned.x.size(); ++i) {
    const auto at = static_cast<std::size_t>(thinned.x[i]) - 1;
    EXPECT_EQ(thinned.y[i], whole.y[at]);
    EXPECT_EQ(thinned.low[i], whole.low[at]);
    EXPECT_EQ(thinned.high[i], whole.high[at]);
  }
}

TEST(Thinning, ALongCurveKeepsItsEndsItsExtremesAndOnlyMeasuredPoints) {
  Series whole = random_curve(100000);
  whole.y[31234] = 50;
  whole.y[77777] = -50;
  whole.low[55555] = -90;
  whole.high[12345] = 90;
  const Series thinned = thin(whole, 1000);
  EXPECT_LE(thinned.x.size(), 1000U);
  EXPECT_GE(thinned.x.size(), 500U);
  EXPECT_TRUE(std::is_sorted(thinned.x.begin(), thinned.x.end()));
  EXPECT_EQ(thinned.x.front(), 1);
  EXPECT_EQ(thinned.x.back(), 100000);
  EXPECT_EQ(*std::max_element(thinned.y.begin(), thinned.y.end()), 50);
  EXPECT_EQ(*std::min_element(thinned.y.begin(), thinned.y.end()), -50);
  EXPECT_EQ(*std::min_element(thinned.low.begin(), thinned.low.end()), -90);
  EXPECT_EQ(*std::max_element(thinned.high.begin(), thinned.high.end()), 90);
  expect_points_of(thinned, whole);
}

TEST(Thinning, ASinglePeakIsKeptWhereverItStands) {
  Series whole = random_curve(10000);
  whole.low.clear();
  whole.high.clear();
  for (std::size_t peak = 5; peak < 10000; peak += 97) {
    Series spiked = whole;
    spiked.y[peak] = 10;
    const Series kept = thin(spiked, 1002);
    EXPECT_NE(std::find(kept.y.begin(), kept.y.end(), 10), kept.y.end()) << "peak at " << peak << " was lost";
    EXPECT_LE(kept.x.size(), 1002U);
  }
}

TEST(Thinning, AShortCurveStaysAsItIs) {
  const Series whole = random_curve(1000);
  const Series thinned = thin(whole, 1000);
  EXPECT_EQ(thinned.x, whole.x);
  EXPECT_EQ(thinned.y, whole.y);
}

TEST(Thinning, ALogarithmicAxisKeepsItsFirstDecades) {
  const Series thinned = thin(random_curve(100000), 1000, true);
  EXPECT_LE(thinned.x.size(), 1000U);
  // Cut evenly in x, the first stretch of 400 updates would leave four points here.
  EXPECT_GE(std::count_if(thinned.x.begin(), thinned.x.end(), [](double x) { return x <= 10; }), 9);
  EXPECT_GE(std::count_if(thinned.x.begin(), thinned.x.end(), [](double x) { return x <= 400; }), 90);
}

TEST(Thinning, AGapSurvivesAndStaysWithinTheLimit) {
  Series whole = random_curve(50000);
  for (std::size_t i = 0; i < whole.y.size(); i += 10) whole.y[i] = not_a_number;
  const Series thinned = thin(whole, 1000);
  EXPECT_LE(thinned.x.size(), 1000U);
  EXPECT_GE(std::count_if(thinned.y.begin(), thinned.y.end(), [](double y) { return std::isnan(y); }), 100);
}

TEST(Thinning, ACurveThatRunsBackInXIsThinnedToo) {
  Series circle;
  for (int i = 0; i < 20000; ++i) {
    circle.x.push_back(std::cos(i * 6.283185 / 20000));
    circle.y.push_back(std::sin(i * 6.283185 / 20000));
  }
  const Series thinned = thin(circle, 1000);
  EXPECT_LE(thinned.x.size(), 1000U);
  EXPECT_GE(thinned.x.size(), 400U);
  EXPECT_NEAR(*std::min_element(thinned.x.begin(), thinned.x.end()), -1, 1e-4);
}

TEST(Thinning, ACurveOfGapsAloneOrOfOneXIsNoTrouble) {
  Series gaps;
  gaps.x.assign(5000, 3.0);
  gaps.y.assign(5000, not_a_number);
  EXPECT_LE(thin(gaps, 100).x.size(), 100U);
  EXPECT_TRUE(thin(Series{}, 100).x.empty());
}

TEST(Thinning, WhatIsNotFiniteBecomesOneGapAndItsBandGoesWithIt) {
  Series series;
  series.x = {1, not_a_number, 2, 3, 4, 5};
  series.y = {1, 1, unbounded, not_a_number, 4, 5};
  series.low = {0, 0, 0, 0, 3, -unbounded};
  series.high = {2, 2, 2, 2, 5, 6};
  const Series clean = drawable(series, {});
  EXPECT_EQ(clean.x, (std::vector<double>{1, 2, 4, 5}));
  EXPECT_TRUE(std::isnan(clean.y[1]));
  EXPECT_TRUE(std::isnan(clean.low[1]) && std::isnan(clean.high[1]));
  EXPECT_EQ(clean.y[3], 5);
  EXPECT_TRUE(std::isnan(clean.low[3]) && std::isnan(clean.high[3]));
}

TEST(Thinning, ALogarithmicAxisTakesOnlyPositiveNumbers) {
  Series series;
  series.x = {0, 1, 2, 3};
  series.y = {1, 0, -2, 4};
  const Series clean = drawable(series, {true, true});
  EXPECT_EQ(clean.x, (std::vector<double>{1, 3}));
  EXPECT_TRUE(std::isnan(clean.y[0]));
  EXPECT_EQ(clean.y[1], 4);
}

TEST(Thinning, SeriesOfUnequalLengthsAreRefusedByName) {
  Series series;
  series.name = "energy";
  series.x = {1, 2};
  series.y = {1};
  try {
    static_cast<void>(drawable(series, {}));
    FAIL() << "two x and one y were accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("series 'energy': 2 values of x but 1 of y"), std::string::npos);
  }
  series.y = {1, 2};
  series.low = {0, 1};
  EXPECT_THROW(static_cast<void>(drawable(series, {})), Error);
}

}  // namespace
}  // namespace harmonium
