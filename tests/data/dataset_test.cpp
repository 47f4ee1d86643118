#include "harmonium/data/dataset.h"

#include <gtest/gtest.h>

#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

Dataset gray_bytes() {
  return {.name = "gray",
          .values = at::tensor({0, 51, 255, 102, 0, 255}, at::kByte).view({3, 2}),
          .scale = 1.0 / 255,
          .labels = at::tensor({7, 8, 9}, at::kLong)};
}

Dataset floats(const std::vector<float>& values, std::int64_t columns) {
  return {.name = "floats", .values = at::tensor(values).view({-1, columns})};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Dataset, ScalesBytesOfGrayToTheUnitInterval) {
  const at::Tensor values = gray_bytes().to_float();
  EXPECT_EQ(values.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(values, at::tensor({0.F, 0.2F, 1.F, 0.4F, 0.F, 1.F}).view({3, 2})));
}

TEST(Dataset, MapsTheLargestByteToExactlyOne) {
  for (const double levels : {1.0, 16.0, 255.0}) {
    const Dataset data{.name = "full", .values = at::full({1, 1}, levels, at::kByte), .scale = 1.0 / levels};
    EXPECT_EQ(data.to_float().item<float>(), 1.F) << levels;
  }
}

TEST(Dataset, GathersTheRowsAskedForInTheirOrder) {
  const Dataset data = gray_bytes();
  const at::Tensor rows = at::tensor({2, 0, 2}, at::kLong);
  EXPECT_TRUE(at::equal(data.gather(rows), data.to_float().index_select(0, rows)));
}

TEST(Dataset, FloatsAreACopyThatMayBeChanged) {
  const Dataset data = floats({0, 1}, 2);
  data.to_float().fill_(5);
  EXPECT_EQ(data.values.sum().item<float>(), 1.F);
}

TEST(Dataset, SelectsAndSlicesRowsWithTheirLabels) {
  const Dataset selected = gray_bytes().select(at::tensor({2, 1}, at::kLong));
  EXPECT_TRUE(at::equal(selected.labels, at::tensor({9, 8}, at::kLong)));
  EXPECT_EQ(selected.values[1][0].item<int>(), 255);
  const Dataset sliced = gray_bytes().slice(1, 2);
  EXPECT_TRUE(at::equal(sliced.labels, at::tensor({8}, at::kLong)));
  EXPECT_EQ(sliced.rows(), 1);
  EXPECT_THROW((void)gray_bytes().slice(2, 4), Error);
}

TEST(Dataset, FirstTakesAllRowsWhenTheLimitIsZeroOrTooLarge) {
  EXPECT_EQ(gray_bytes().first(0).rows(), 3);
  EXPECT_EQ(gray_bytes().first(99).rows(), 3);
  EXPECT_EQ(gray_bytes().first(2).rows(), 2);
  EXPECT_EQ(gray_bytes().first(2).labels.numel(), 2);
}

TEST(Dataset, IsBinaryOnlyWhenEveryScaledValueIsZeroOrOne) {
  EXPECT_FALSE(gray_bytes().is_binary());
  EXPECT_TRUE(floats({0, 1, 1, 0}, 2).is_binary());
  EXPECT_FALSE(floats({0, 1, 1, std::numeric_limits<float>::quiet_NaN()}, 2).is_binary());
  const Dataset black_and_white{
      .name = "bw", .values = at::tensor({0, 255}, at::kByte).view({1, 2}), .scale = 1.0 / 255};
  EXPECT_TRUE(black_and_white.is_binary());
  // A single gray value in the last of several chunks is found.
  Dataset many{.name = "many", .values = at::zeros({5000, 3}, at::kByte)};
  EXPECT_TRUE(many.is_binary());
  many.values[4999][2] = 2;
  EXPECT_FALSE(many.is_binary());
}

TEST(Dataset, ColumnMeansAgreeWithAWholeTablePassInDouble) {
  const at::Tensor values = at::arange(0, 3 * 5000, at::kLong).remainder(251).to(at::kByte).view({5000, 3});
  const Dataset data{.name = "many", .values = values, .scale = 1.0 / 255};
  const at::Tensor means = data.column_means();
  EXPECT_EQ(means.scalar_type(), at::kDouble);
  // Each float32 value is within 2⁻²⁴ (relative) of the exact one.
  EXPECT_TRUE(at::allclose(means, values.to(at::kDouble).mean(0) / 255, 1e-7, 0));
  EXPECT_THROW((void)data.slice(0, 0).column_means(), Error);
}

TEST(Dataset, NamesTheRowColumnAndValueOfTheFirstProbabilityOutsideTheUnitInterval) {
  EXPECT_NO_THROW(require_unit_interval(gray_bytes()));
  std::vector<float> values(3 * 3000, 0.5F);
  values[3 * 2500 + 1] = -0.25F;
  values[3 * 2501] = 7;
  const std::string message = message_of([&] { require_unit_interval(floats(values, 3)); });
  EXPECT_NE(message.find("floats: row 2500, column 1 (counted from 0) holds -0.25"), std::string::npos) << message;
}

TEST(Dataset, RefusesNotANumberAsAProbability) {
  const std::string message = message_of([] {
    require_unit_interval(floats({0, 1, 1, std::numeric_limits<float>::quiet_NaN()}, 2));
  });
  EXPECT_NE(message.find("row 1, column 1 (counted from 0) holds nan"), std::string::npos) << message;
}

TEST(Dataset, NamesTheFirstValueThatIsNoBit) {
  EXPECT_NO_THROW(require_binary(floats({0, 1}, 2)));
  const std::string message = message_of([] { require_binary(gray_bytes()); });
  EXPECT_NE(message.find("gray: row 0, column 1"), std::string::npos) << message;
}

TEST(Dataset, CountsTheLevelsThatItsValuesCanHave) {
  EXPECT_EQ(gray_levels(gray_bytes()), 256) << "bytes divided by 255";
  EXPECT_EQ(gray_levels(floats({0, 1}, 2)), 2);
  Dataset half = floats({0, 0.5}, 2);
  EXPECT_NE(message_of([&] { (void)gray_levels(half); }).find("not a whole number"), std::string::npos);
  half.scale = 0.3;
  EXPECT_NE(message_of([&] { (void)gray_levels(half); }).find("scale"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)gray_levels(floats({0, 2}, 2)); }).find("outside [0, 1]"), std::string::npos);
}

TEST(Binarization, NamesRoundTripAndUnknownOnesAreRefusedWithTheChoices) {
  for (const auto binarization : {Binarization::none, Binarization::threshold, Binarization::stochastic,
                                  Binarization::dequantized, Binarization::levels})
    EXPECT_EQ(parse_binarization(to_string(binarization)), binarization);
  const std::string message = message_of([] { (void)parse_binarization("fuzzy"); });
  EXPECT_NE(message.find("none, threshold, stochastic, dequantized or levels"), std::string::npos) << message;
}

}  // namespace
}  // namespace harmonium
