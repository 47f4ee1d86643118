#include "harmonium/data/bars_and_stripes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

std::string row_of(const Dataset& data, std::int64_t row) {
  std::string bits;
  for (std::int64_t i = 0; i < data.columns(); ++i) bits += static_cast<char>('0' + data.values[row][i].item<int>());
  return bits;
}

TEST(BarsAndStripes, ListsEveryDistinctPictureOnce) {
  for (const std::int64_t side : {1, 2, 3, 4}) {
    const Dataset data = bars_and_stripes({.side = side});
    std::set<std::string> distinct;
    for (std::int64_t r = 0; r < data.rows(); ++r) distinct.insert(row_of(data, r));
    EXPECT_EQ(data.rows(), (std::int64_t{2} << side) - 2);
    EXPECT_EQ(static_cast<std::int64_t>(distinct.size()), data.rows()) << side;
    EXPECT_EQ(data.image, (ImageShape{side, side}));
  }
}

TEST(BarsAndStripes, EveryPictureHasEqualRowsOrEqualColumns) {
  const at::Tensor pictures = bars_and_stripes().values.view({-1, 4, 4});
  for (std::int64_t i = 0; i < pictures.size(0); ++i) {
    const at::Tensor picture = pictures[i];
    const bool bars = picture.eq(picture[0]).all().item<bool>();
    const bool stripes = picture.eq(picture.select(1, 0).unsqueeze(1)).all().item<bool>();
    EXPECT_TRUE(bars || stripes) << i;
  }
}

TEST(BarsAndStripes, DrawsAllPicturesEquallyOften) {
  // χ² with 29 degrees of freedom over 30 000 draws: P(χ² > 66) ≈ 1e-4.
  constexpr std::int64_t n = 30000;
  const Dataset data = bars_and_stripes(n, Key(1));
  // Code a row as a 16-bit number to count without strings.
  const at::Tensor codes = data.values.to(at::kLong).mul(at::pow(2, at::arange(16, at::kLong))).sum(1);
  const at::Tensor counts = codes.bincount();
  const at::Tensor seen = counts.masked_select(counts.gt(0)).to(at::kDouble);
  ASSERT_EQ(seen.numel(), 30);
  const double expected = n / 30.0;
  EXPECT_LT((seen - expected).square().sum().item<double>() / expected, 66.0);
}

TEST(BarsAndStripes, ARowDependsOnTheKeyAndItsNumberAlone) {
  EXPECT_TRUE(at::equal(bars_and_stripes(50, Key(7)).values, bars_and_stripes(90, Key(7)).first(50).values));
  EXPECT_FALSE(at::equal(bars_and_stripes(50, Key(7)).values, bars_and_stripes(50, Key(8)).values));
}

TEST(BarsAndStripes, TheEntropyIsTheLogarithmOfTheNumberOfPictures) {
  EXPECT_DOUBLE_EQ(bars_and_stripes_entropy(), std::log(30.0));
  EXPECT_DOUBLE_EQ(bars_and_stripes_entropy({.side = 3}), std::log(14.0));
}

TEST(BarsAndStripes, RefusesSizesThatCannotBeListed) {
  EXPECT_THROW((void)bars_and_stripes({.side = 0}), Error);
  EXPECT_THROW((void)bars_and_stripes({.side = 17}), Error);
  EXPECT_THROW((void)bars_and_stripes(-1, Key(0)), Error);
}

}  // namespace
}  // namespace harmonium
