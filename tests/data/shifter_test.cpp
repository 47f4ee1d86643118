#include "harmonium/data/shifter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

TEST(Shifter, TheSecondGroupIsTheFirstShiftedAsTheCodeSays) {
  const Dataset data = shifter(500, Key(2));
  ASSERT_EQ(data.columns(), 19);
  for (std::int64_t r = 0; r < data.rows(); ++r) {
    const at::Tensor row = data.values[r];
    const auto shift = data.labels[r].item<std::int64_t>() - 1;
    EXPECT_TRUE(at::equal(row.narrow(0, 8, 8), row.narrow(0, 0, 8).roll(shift, 0))) << r;
    EXPECT_EQ(row.narrow(0, 16, 3).argmax().item<std::int64_t>(), shift + 1);
    EXPECT_EQ(row.narrow(0, 16, 3).sum().item<std::int64_t>(), 1);
  }
}

TEST(Shifter, ListsEveryPatternOnce) {
  const Dataset data = shifter({.width = 5});
  EXPECT_EQ(data.rows(), 3 * 32);
  EXPECT_EQ(std::get<0>(at::unique_dim(data.values, 0)).size(0), 3 * 32);
}

TEST(Shifter, BitsAreFairAndShiftsEquallyLikely) {
  // 16 bit means and 3 shift frequencies at 4.5 σ: false-alarm rate below 19 · 7e-6 ≈ 1.3e-4.
  constexpr std::int64_t n = 20000;
  const at::Tensor means = shifter(n, Key(3)).column_means();
  for (std::int64_t i = 0; i < 19; ++i) {
    const double p = i < 16 ? 0.5 : 1.0 / 3;
    EXPECT_NEAR(means[i].item<double>(), p, 4.5 * std::sqrt(p * (1 - p) / n)) << i;
  }
}

TEST(Shifter, NoPairOfUnitsTellsTheShift) {
  // Over the whole list every covariance between a bit and a bit of the code is exactly zero.
  const at::Tensor rows = shifter().to_float().to(at::kDouble);
  const at::Tensor centered = rows - rows.mean(0);
  const at::Tensor covariance = at::mm(centered.t(), centered) / static_cast<double>(rows.size(0));
  EXPECT_LT(covariance.narrow(0, 0, 16).narrow(1, 16, 3).abs().max().item<double>(), 1e-12);
}

TEST(Shifter, TheEntropyIsTheLogarithmOfTheNumberOfPatterns) { EXPECT_DOUBLE_EQ(shifter_entropy(), std::log(768.0)); }

TEST(Shifter, RefusesWidthsOutsideTwoToSixteen) {
  EXPECT_THROW((void)shifter({.width = 1}), Error);
  EXPECT_THROW((void)shifter(5, Key(0), {.width = 17}), Error);
}

}  // namespace
}  // namespace harmonium
