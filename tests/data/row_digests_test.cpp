#include "harmonium/data/row_digests.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "harmonium/data/split.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

// Rows that are all different, or nearly all the same few.
Dataset numbered_rows(std::int64_t rows, std::int64_t from = 0) {
  const at::Tensor number = at::arange(from, from + rows, at::kLong);
  return {
      .name = "numbers",
      .values = at::stack({number.remainder(251), number.floor_divide(251), number.remainder(7)}, 1).to(at::kFloat)};
}
Dataset coins(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  return {.name = "coins", .values = uniform(Key(seed), {rows, columns}).lt(0.5).to(at::kByte)};
}

TEST(RowDigests, AreEqualExactlyForEqualRows) {
  const auto hashes = row_hashes(numbered_rows(20'000));
  EXPECT_EQ(std::set<std::uint64_t>(hashes.begin(), hashes.end()).size(), 20'000U);
  EXPECT_EQ(row_hashes(numbered_rows(20, 100)), std::vector<std::uint64_t>(hashes.begin() + 100, hashes.begin() + 120));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Dataset a{.name = "a", .values = at::tensor({0.F, nan}).view({1, 2})},
      b{.name = "b", .values = at::tensor({-0.F, -nan}).view({1, 2})};
  EXPECT_EQ(row_hashes(a), row_hashes(b));
}

TEST(RowDigests, DoNotDependOnTypeOrScale) {
  const at::Tensor bits = at::tensor({0, 1, 1, 0}, at::kByte).view({2, 2});
  EXPECT_EQ(row_hashes({.name = "a", .values = bits, .scale = 1.0 / 255}),
            row_hashes({.name = "b", .values = bits.to(at::kFloat)}));
}

TEST(RowDigests, FindEveryTrainedRowAndNoOther) {
  const RowDigests trained = digest_rows(numbered_rows(1000));
  EXPECT_EQ(trained.once, 1000);
  const RowsSeen same = find_seen_rows(trained, numbered_rows(100, 500)),
                 other = find_seen_rows(trained, numbered_rows(100, 1000)),
                 half = find_seen_rows(trained, numbered_rows(100, 970));
  EXPECT_EQ(same.seen, 100);
  EXPECT_TRUE(same.trained_on());
  EXPECT_EQ(other.seen, 0);
  EXPECT_FALSE(other.trained_on());
  EXPECT_EQ(half.seen, 30);
  EXPECT_FALSE(half.trained_on()) << "less than half";
}

TEST(RowDigests, ExpectRepeatedRowsInFreshDataAndTellThemFromTrainedOnes) {
  // 2^9 patterns in 800 rows: most rows of fresh data were seen before.
  const Split parts = split(coins(1200, 9, 1), {.train = 800, .valid = 0, .test = 400}, Key(2));
  const RowsSeen fresh = find_seen_rows(digest_rows(parts.train), parts.test);
  EXPECT_GT(fresh.seen, 250);
  EXPECT_NEAR(fresh.expected, static_cast<double>(fresh.seen), 32) << "four standard deviations of either are 40";
  EXPECT_FALSE(fresh.trained_on());
  const RowsSeen contaminated = find_seen_rows(digest_rows(coins(1200, 9, 1)), parts.test);
  EXPECT_EQ(contaminated.seen, 400);
  EXPECT_TRUE(contaminated.trained_on());
  // A handful of rows proves nothing.
  EXPECT_FALSE(find_seen_rows(digest_rows(coins(2, 3, 3)), coins(2, 3, 3)).trained_on());
}

TEST(RowDigests, OfLargeSetsAreASampleByWhichTheOverlapIsEstimated) {
  const RowDigests sketch = digest_rows(numbered_rows(20'000), 2'000);
  EXPECT_FALSE(sketch.whole);
  EXPECT_EQ(sketch.hashes.numel(), 2'000);
  const RowsSeen third = find_seen_rows(sketch, numbered_rows(15'000, 15'000));
  EXPECT_TRUE(third.estimated);
  // About 1500 of the rows are within reach; four standard deviations of a third of them.
  EXPECT_NEAR(static_cast<double>(third.seen), 5'000, 4 * 15'000 * 0.0122);
  EXPECT_EQ(find_seen_rows(sketch, numbered_rows(5'000)).seen, 5'000);
  EXPECT_EQ(find_seen_rows(sketch, numbered_rows(5'000, 30'000)).seen, 0);
}

}  // namespace
}  // namespace harmonium
