#include "harmonium/kernels/pair_sums.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/logistic.h"
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

TEST(SoftplusPairSums, TakeAnotherWayForFieldsOutOfRange) {
  const at::Tensor first = 5000 * normal(Key(7), {3, 11}, at::kDouble),
                   second = 5000 * normal(Key(8), {4, 11}, at::kDouble);
  support::expect_close(softplus_pair_sums(first, second), plain(first, second), 1e-13);
}

TEST(SoftplusPairSums, ShowNotANumber) {
  at::Tensor first = at::zeros({2, 3}, at::kDouble);
  first[1][2] = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor sums = softplus_pair_sums(first, at::zeros({5, 3}, at::kDouble));
  EXPECT_TRUE(sums[1].isnan().all().item<bool>());
}

TEST(SoftplusPairSums, OfNothingAreZero) {
  EXPECT_TRUE(at::equal(softplus_pair_sums(at::zeros({2, 0}, at::kDouble), at::zeros({3, 0}, at::kDouble)),
                        at::zeros({2, 3}, at::kDouble)));
}

}  // namespace
}  // namespace harmonium
