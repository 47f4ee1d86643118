#include "harmonium/experiments/search_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace harmonium {
namespace {

const SearchSpace space = {{"rate_weights", NumberRange{.low = 1e-3, .high = 1}},
                           {"gradient", Choices{{"pcd", "cd", "fpcd"}}},
                           {"rate_bias", SameAs{"rate_weights"}},
                           {"sweeps", NumberRange{.low = 1, .high = 4, .whole = true}},
                           {"momentum", NumberRange{.low = -1, .high = 3, .logarithmic = false}}};

const SettingValue& value_of(const std::vector<Setting>& settings, const std::string& name) {
  for (const Setting& each : settings)
    if (each.name == name) return each.value;
  throw std::runtime_error("no setting " + name);
}

double number_of(const std::vector<Setting>& settings, const std::string& name) {
  return std::get<double>(value_of(settings, name));
}

TEST(SearchSpace, ATrialIsAFunctionOfSeedAndNumberAlone) {
  EXPECT_EQ(draw_settings(space, 7, 3), draw_settings(space, 7, 3));
  EXPECT_NE(draw_settings(space, 7, 3), draw_settings(space, 7, 4));
  EXPECT_NE(draw_settings(space, 7, 3), draw_settings(space, 8, 3));
}

TEST(SearchSpace, AnOptionDrawsTheSameWhateverElseIsSearched) {
  const SearchSpace fewer = {space[3], space[0]};
  for (std::int64_t trial = 1; trial <= 20; ++trial) {
    const std::vector<Setting> all = draw_settings(space, 1, trial), some = draw_settings(fewer, 1, trial);
    EXPECT_EQ(some[0].name, "sweeps") << "in the order of the space";
    EXPECT_EQ(value_of(some, "sweeps"), value_of(all, "sweeps"));
    EXPECT_EQ(value_of(some, "rate_weights"), value_of(all, "rate_weights"));
  }
}

TEST(SearchSpace, DrawsOfOneTrialAreNotTheSameUniformNumber) {
  const SearchSpace two = {{"rate_weights", NumberRange{.logarithmic = false}},
                           {"weight_decay", NumberRange{.logarithmic = false}}};
  // Correlation of 4000 independent pairs: standard error 1/√4000. Beyond 5 of them once in 1.7 million.
  constexpr int n = 4000;
  double product = 0;
  for (std::int64_t trial = 1; trial <= n; ++trial) {
    const std::vector<Setting> both = draw_settings(two, 3, trial);
    product += 12 * (number_of(both, "rate_weights") - 0.5) * (number_of(both, "weight_decay") - 0.5);
  }
  EXPECT_LT(std::abs(product / n), 5 / std::sqrt(n));
}

// A fraction of n draws lies within 5 standard errors of its probability but once in 1.7 million; the seed is fixed.
void expect_fraction(std::int64_t hits, std::int64_t n, double probability) {
  const double error = std::sqrt(probability * (1 - probability) / static_cast<double>(n));
  EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(n), probability, 5 * error);
}

TEST(SearchSpace, ARangeIsLogUniformOrUniform) {
  constexpr std::int64_t n = 6000;
  std::int64_t first_decade = 0, second_decade = 0, low_half = 0;
  for (std::int64_t trial = 1; trial <= n; ++trial) {
    const std::vector<Setting> drawn = draw_settings(space, 11, trial);
    const double rate = number_of(drawn, "rate_weights"), momentum = number_of(drawn, "momentum");
    ASSERT_TRUE(rate >= 1e-3 && rate <= 1) << rate;
    ASSERT_TRUE(momentum >= -1 && momentum <= 3) << momentum;
    first_decade += rate < 1e-2;
    second_decade += rate >= 1e-2 && rate < 1e-1;
    low_half += momentum < 1;
  }
  expect_fraction(first_decade, n, 1.0 / 3);
  expect_fraction(second_decade, n, 1.0 / 3);
  expect_fraction(low_half, n, 0.5);
}

TEST(SearchSpace, WholeNumbersAndListsReachBothTheirEnds) {
  constexpr std::int64_t n = 6000;
  std::map<std::int64_t, std::int64_t> sweeps;
  std::map<std::string, std::int64_t> gradients;
  for (std::int64_t trial = 1; trial <= n; ++trial) {
    const std::vector<Setting> drawn = draw_settings(space, 5, trial);
    ++sweeps[std::get<std::int64_t>(value_of(drawn, "sweeps"))];
    ++gradients[std::get<std::string>(value_of(drawn, "gradient"))];
  }
  ASSERT_EQ(sweeps.size(), 4U);
  // P(k) = log((k + 1) / k) / log 5 on 1 … 4
  for (const auto& [k, hits] : sweeps) expect_fraction(hits, n, std::log1p(1.0 / static_cast<double>(k)) / std::log(5));
  ASSERT_EQ(gradients.size(), 3U);
  for (const auto& [name, hits] : gradients) expect_fraction(hits, n, 1.0 / 3);
}

TEST(SearchSpace, ATieHasTheValueOfTheOther) {
  for (std::int64_t trial = 1; trial <= 20; ++trial) {
    const std::vector<Setting> drawn = draw_settings(space, 2, trial);
    EXPECT_EQ(value_of(drawn, "rate_bias"), value_of(drawn, "rate_weights"));
  }
}

TEST(SearchSpace, SettingsOverwriteOptionsOfARun) {
  RunConfig config;
  for (const Setting& each : std::vector<Setting>{{"rate_weights", 0.25},
                                                  {"gradient", "cd"},
                                                  {"sweeps", std::int64_t{3}},
                                                  {"hidden", std::int64_t{25}},
                                                  {"momentum", std::int64_t{0}}})
    apply_setting(config, each);
  EXPECT_EQ(config.rate_weights, 0.25);
  EXPECT_EQ(config.gradient, "cd");
  EXPECT_EQ(config.sweeps, 3);
  EXPECT_EQ(config.hidden, "25");
  EXPECT_EQ(config.momentum, 0);
  EXPECT_EQ(config.rate_bias, RunConfig{}.rate_bias) << "nothing else has changed";
  EXPECT_THROW(apply_setting(config, {"rate", 1.0}), std::logic_error);
}

TEST(SearchSpace, TheBestScoreIsTheFirstOfTheGreatestOrTheLeast) {
  const double nan = std::nan(""), infinite = INFINITY;
  const std::vector<std::optional<double>> scores = {std::nullopt, -3, nan, -1, -infinite, -1, infinite, -5};
  EXPECT_EQ(best_of(scores, false), 3U);
  EXPECT_EQ(best_of(scores, true), 7U);
  EXPECT_EQ(best_of(std::vector<std::optional<double>>{std::nullopt, nan}, false), std::nullopt);
}

TEST(SearchSpace, SettingsAreWrittenShort) {
  EXPECT_EQ(settings_text({{"rate_weights", 0.0123456}, {"gradient", "cd"}, {"sweeps", std::int64_t{3}}}),
            "rate_weights 0.0123, gradient cd, sweeps 3");
}

}  // namespace
}  // namespace harmonium
