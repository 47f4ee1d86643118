#include "harmonium/kernels/pair_sums.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

at::Tensor plain(const at::Tensor& first, const at::Tensor& second) {
  const at::Tensor field = first.unsqueeze(1) + second.unsqueeze(0);
  return (field.clamp_min(0) + at::log1p(at::exp(-field.abs()))).sum(2);
}

TEST(SoftplusPairSums, EqualThePlainExpressionForAllShapes) {
  std::uint64_t seed = 1;
  for (const std::int64_t rows : {1, 3, 4, 9})
    for (const std::int64_t columns : {1, 15, 16, 33})
      for (const std::int64_t units : {1, 7, 784}) {
        const at::Tensor first = 2 * normal(Key(seed), {rows, units}, at::kDouble),
                         second = 2 * normal(Key(seed + 1), {columns, units}, at::kDouble);
        seed += 2;
        SCOPED_TRACE(format("{} x {} rows, {} units", rows, columns, units));
        support::expect_close(softplus_pair_sums(first, second), plain(first, second), 1e-13);
      }
}

TEST(SoftplusPairSums, KeepTheirRangeWhereProductsWouldOverflow) {
  // 500 factors of up to e^140 each: exponents have to be taken off every five.
  const at::Tensor first = 70 * normal(Key(5), {6, 500}, at::kDouble).clamp(-1, 1),
                   second = 70 * normal(Key(6), {20, 500}, at::kDouble).clamp(-1, 1);
  support::expect_close(softplus_pair_sums(first, second), plain(first, second), 1e-13);
}

TEST(SoftplusPairSums, KnowTheirRange) {
  const at::Tensor fine = at::full({2, 3}, 150.0, at::kDouble);
  at::Tensor large = fine.clone(), unknown = fine.clone();
  large[1][2] = -151;
  unknown[0][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(pair_sums_in_range(fine, fine));
  EXPECT_FALSE(pair_sums_in_range(fine, large));
  EXPECT_FALSE(pair_sums_in_range(unknown, fine));
  support::expect_mentions(support::message_of([&] { static_cast<void>(softplus_pair_sums(large, fine)); }), {"150"});
}

TEST(SoftplusPairSums, OfNothingAreZero) {
  EXPECT_TRUE(at::equal(softplus_pair_sums(at::zeros({2, 0}, at::kDouble), at::zeros({3, 0}, at::kDouble)),
                        at::zeros({2, 3}, at::kDouble)));
}

}  // namespace
}  // namespace harmonium
