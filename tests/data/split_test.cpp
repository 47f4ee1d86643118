#include "harmonium/data/split.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

Dataset numbered(std::int64_t rows) {
  return {
      .name = "numbers", .values = at::arange(rows, at::kFloat).view({rows, 1}), .labels = at::arange(rows, at::kLong)};
}

TEST(Split, PartsAreDisjointAndTogetherAreTheWhole) {
  const Split parts = split(numbered(100), {.train = 70, .valid = 10, .test = 20}, Key(3));
  EXPECT_EQ(parts.train.rows(), 70);
  EXPECT_EQ(parts.valid.rows(), 10);
  EXPECT_EQ(parts.test.rows(), 20);
  const at::Tensor all = std::get<0>(at::cat({parts.train.labels, parts.valid.labels, parts.test.labels}).sort());
  EXPECT_TRUE(at::equal(all, at::arange(100, at::kLong)));
}

TEST(Split, LabelsStayWithTheirRows) {
  const Dataset train = split(numbered(50), {.train = 30, .valid = 10, .test = 10}, Key(3)).train;
  EXPECT_TRUE(at::equal(train.values.flatten().to(at::kLong), train.labels));
  EXPECT_EQ(train.name, "numbers:train");
}

TEST(Split, TheKeyAloneDecidesTheOrder) {
  const auto train = [](std::uint64_t seed) { return split(numbered(50), {.train = 30}, Key(seed)).train.labels; };
  EXPECT_TRUE(at::equal(train(1), train(1)));
  EXPECT_FALSE(at::equal(train(1), train(2)));
}

TEST(Split, EveryRowIsEquallyLikelyToBeForTesting) {
  // Row 0 lands in the test quarter with p = 1/4 in each of n = 4000 splits; 4.5 σ: false-alarm rate 7e-6.
  constexpr int n = 4000;
  int count = 0;
  for (int seed = 0; seed < n; ++seed)
    count += split(numbered(8), {.train = 4, .valid = 2, .test = 2}, Key(seed)).test.labels.eq(0).any().item<bool>();
  EXPECT_NEAR(count, n / 4.0, 4.5 * std::sqrt(n * 0.25 * 0.75));
}

TEST(Split, RefusesMoreRowsThanThereAreAndNegativeParts) {
  EXPECT_THROW((void)split(numbered(10), {.train = 9, .valid = 1, .test = 1}, Key(0)), Error);
  EXPECT_THROW((void)split(numbered(10), {.train = 9, .valid = -1, .test = 1}, Key(0)), Error);
}

TEST(SplitSizes, GiveTrainingWhatRoundingLeaves) {
  const SplitSizes sizes = split_sizes(19, 0.1, 0.1);
  EXPECT_EQ(sizes.valid, 1);
  EXPECT_EQ(sizes.test, 1);
  EXPECT_EQ(sizes.train, 17);
  EXPECT_THROW((void)split_sizes(19, 0.6, 0.6), Error);
}

}  // namespace
}  // namespace harmonium
