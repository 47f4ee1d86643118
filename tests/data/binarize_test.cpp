#include "harmonium/data/binarize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

Dataset ramp(std::int64_t rows) {
  return {.name = "ramp",
          .values = at::arange(0, 17, at::kByte).repeat({rows, 1}),
          .scale = 1.0 / 16,
          .labels = at::arange(rows, at::kLong),
          .image = ImageShape{1, 17}};
}

TEST(Binarize, ThresholdTurnsOnExactlyHalfAndAbove) {
  const Dataset bits = binarize(ramp(1), Binarization::threshold, 0);
  EXPECT_EQ(bits.values.scalar_type(), at::kByte);
  EXPECT_EQ(bits.scale, 1.0);
  EXPECT_TRUE(at::equal(bits.values[0], at::arange(17).ge(8).to(at::kByte)));
}

TEST(Binarize, NoneLeavesTheDataAsTheyAre) {
  const Dataset data = ramp(2), same = binarize(data, Binarization::none, 3);
  EXPECT_TRUE(same.values.is_same(data.values));
  EXPECT_EQ(same.scale, data.scale);
}

TEST(Binarize, KeepsLabelsAndShapeAndRemembersHowTheBitsWereMade) {
  const Dataset bits = binarize(ramp(3), Binarization::stochastic, 42);
  EXPECT_TRUE(at::equal(bits.labels, ramp(3).labels));
  EXPECT_EQ(bits.image, (ImageShape{1, 17}));
  EXPECT_EQ(bits.binarization, Binarization::stochastic);
  EXPECT_EQ(bits.binarization_seed, 42U);
  EXPECT_EQ(binarize(ramp(3), Binarization::threshold, 42).binarization_seed, std::nullopt);
}

TEST(Binarize, BitsThatWereDrawnBeforeKeepTheRecordOfIt) {
  const Dataset once = binarize(ramp(3), Binarization::stochastic, 42),
                twice = binarize(once, Binarization::threshold, 1);
  EXPECT_TRUE(at::equal(twice.values, once.values));
  EXPECT_EQ(twice.binarization, Binarization::stochastic);
  EXPECT_EQ(twice.binarization_seed, 42U);
}

TEST(Binarize, StochasticBitsDependOnTheSeedAlone) {
  const auto bits = [](std::uint64_t seed) { return binarize(ramp(100), Binarization::stochastic, seed).values; };
  EXPECT_TRUE(at::equal(bits(1), bits(1)));
  EXPECT_FALSE(at::equal(bits(1), bits(2)));
}

TEST(Binarize, TheFirstRowsDoNotDependOnHowManyFollow) {
  const auto bits = [](std::int64_t rows) { return binarize(ramp(rows), Binarization::stochastic, 9).values; };
  EXPECT_TRUE(at::equal(bits(3000).narrow(0, 0, 1500), bits(1500)));
}

TEST(Binarize, StochasticBitsAreOnAsOftenAsTheirGrayValueSays) {
  // 17 columns of n = 20000 independent bits; |mean − p| < 4.5 σ each. Union bound on the false-alarm rate:
  // 15 · P(|N(0,1)| > 4.5) ≈ 1e-4 (gray 0 and 1 must be exact).
  constexpr std::int64_t n = 20000;
  const at::Tensor means = binarize(ramp(n), Binarization::stochastic, 5).column_means();
  for (std::int64_t i = 0; i <= 16; ++i) {
    const double p = static_cast<double>(i) / 16;
    EXPECT_NEAR(means[i].item<double>(), p, 4.5 * std::sqrt(p * (1 - p) / n)) << i;
  }
}

TEST(Binarize, BitsOfDifferentChunksAndColumnsAreUncorrelated) {
  // Correlation of n fair ±1 pairs has deviation 1/√n; two checks at 4.5 σ: false-alarm rate 1.4e-5.
  constexpr std::int64_t n = 1024, columns = 64;
  const Dataset gray{.name = "half", .values = at::full({2 * n, columns}, 0.5F)};
  const at::Tensor spins = binarize(gray, Binarization::stochastic, 11).to_float() * 2 - 1;
  const double deviation = 1 / std::sqrt(static_cast<double>(n * columns));
  EXPECT_NEAR((spins.narrow(0, 0, n) * spins.narrow(0, n, n)).mean().item<double>(), 0, 4.5 * deviation);
  EXPECT_NEAR((spins.select(1, 0) * spins.select(1, 1)).mean().item<double>(), 0, 4.5 / std::sqrt(2.0 * n));
}

TEST(Binarize, RefusesGrayValuesThatAreNoProbabilities) {
  const Dataset data{.name = "counts", .values = at::full({2, 2}, 3, at::kByte)};
  EXPECT_THROW((void)binarize(data, Binarization::threshold, 0), Error);
  EXPECT_THROW((void)binarize(data, Binarization::stochastic, 0), Error);
}

TEST(Binarize, TensorsKeepTheirTypeAndShape) {
  const at::Tensor gray = at::full({3, 4}, 0.75, at::kDouble);
  for (const auto binarization : {Binarization::threshold, Binarization::stochastic}) {
    const at::Tensor bits = binarize(gray, binarization, Key(1));
    EXPECT_EQ(bits.scalar_type(), at::kDouble);
    EXPECT_TRUE(bits.eq(0).logical_or(bits.eq(1)).all().item<bool>());
    EXPECT_EQ(bits.sizes(), gray.sizes());
  }
}

}  // namespace
}  // namespace harmonium
