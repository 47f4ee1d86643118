#include "harmonium/data/formats/make_dataset.h"

#include <limits>

#include "tests/files/support.h"

namespace harmonium {

TEST(MakeDataset, TakesZerosAndOnesForBits) {
  for (const auto type : {at::kByte, at::kBool, at::kInt, at::kLong, at::kFloat, at::kDouble}) {
    const Dataset data = make_dataset(at::tensor({0, 1, 1, 0}).view({2, 2}).to(type), "f");
    EXPECT_EQ(data.values.scalar_type(), at::kByte);
    EXPECT_EQ(data.scale, 1.0);
  }
}

TEST(MakeDataset, ScalesBytesOfPicturesBy255HoweverDarkTheyAre) {
  EXPECT_EQ(make_dataset(at::tensor({0, 2}, at::kByte).view({1, 1, 2}), "f").scale, 1.0 / 255);
  EXPECT_EQ(make_dataset(at::tensor({0, 2}, at::kByte).view({1, 2}), "f", {.shape = "1x2"}).scale, 1.0 / 255);
}

TEST(MakeDataset, ScalesTablesOfWholeNumbersOnlyWhereTheyReachFarAndSaysSo) {
  for (const auto type : {at::kByte, at::kShort, at::kLong, at::kFloat, at::kDouble}) {
    const auto read = [&](int largest) { return make_dataset(at::tensor({0, largest}).view({1, 2}).to(type), "f"); };
    for (const int largest : {128, 255}) {
      EXPECT_EQ(read(largest).scale, 1.0 / 255) << largest;
      EXPECT_FALSE(read(largest).whole_numbers);
      EXPECT_EQ(read(largest).remarks.at(0).find("values divided by 255"), 0U);
    }
    for (const int largest : {2, 16, 20, 127}) {
      EXPECT_EQ(read(largest).scale, 1.0) << largest;
      EXPECT_TRUE(read(largest).whole_numbers) << largest;
    }
  }
  EXPECT_EQ(make_dataset(at::tensor({0, 256}).view({1, 2}), "f").scale, 1.0);
  EXPECT_TRUE(make_dataset(at::tensor({-3, 200}).view({1, 2}), "f").whole_numbers);
}

TEST(MakeDataset, DividesByWhatItIsTold) {
  const at::Tensor table = at::tensor({0, 5, 20, 10}).view({2, 2});
  const auto read = [&](const char* scale) { return make_dataset(table, "f", {.scale = scale}); };
  EXPECT_EQ(read("none").scale, 1.0);
  EXPECT_FALSE(read("none").whole_numbers) << "somebody has said what they are";
  EXPECT_TRUE(at::allclose(read("max").to_float(), table.to(at::kFloat) / 20));
  EXPECT_TRUE(at::allclose(read("40").to_float(), table.to(at::kFloat) / 40));
  EXPECT_TRUE(at::allclose(read("0.5").to_float(), table.to(at::kFloat) * 2));
  EXPECT_EQ(make_dataset(at::tensor({0.25, 2.0}).view({1, 2}), "f", {.scale = "max"}).scale, 0.5);
  for (const char* bad : {"0", "-1", "nan", "inf", "12x", "gray"})
    expect_error([&] { (void)read(bad); }, {"scale", bad, "none, max, standardize or auto"});
}

TEST(MakeDataset, TakesACasePerColumnWhereItIsToldSo) {
  const Dataset data = make_dataset(at::tensor({0, 1, 1, 1, 0, 0}).view({2, 3}), "f", {.transpose = "yes"});
  EXPECT_TRUE(data.values.equal(at::tensor({0, 1, 1, 0, 1, 0}, at::kByte).view({3, 2})));
  EXPECT_EQ(make_dataset(at::zeros({4, 5, 9}), "f", {.transpose = "yes"}).image, (ImageShape{4, 5}));
  EXPECT_EQ(make_dataset(at::zeros({4, 5, 9}), "f", {.transpose = "yes"}).rows(), 9);
}

TEST(MakeDataset, TakesTheShapeOfPicturesItIsTold) {
  EXPECT_EQ(make_dataset(at::zeros({3, 16}), "f", {.shape = "2x8"}).image, (ImageShape{2, 8}));
  EXPECT_EQ(make_dataset(at::zeros({3, 16}), "f", {.shape = "2x8x1"}).image, (ImageShape{2, 8}));
  EXPECT_EQ(make_dataset(at::zeros({3, 2, 8, 1}), "f").image, (ImageShape{2, 8}));
  expect_error([] { (void)make_dataset(at::zeros({3, 16}), "f", {.shape = "3x5"}); }, {"15 pixels", "16 values"});
  expect_error([] { (void)make_dataset(at::zeros({3, 24}), "f", {.shape = "2x4x3"}); }, {"3 colours"});
  expect_error([] { (void)make_dataset(at::zeros({3, 16}), "f", {.shape = "wide"}); }, {"wide", "28x20"});
}

TEST(MakeDataset, TakesLabelsFromAColumnByPlaceNumberOrName) {
  const at::Tensor table = at::tensor({7, 0, 1, 3, 1, 0}).view({2, 3}).to(at::kDouble);
  const at::Tensor values = at::tensor({0, 1, 1, 0}, at::kByte).view({2, 2}), labels = at::tensor({7, 3}, at::kLong);
  for (const char* column : {"first", "1", "kind"}) {
    const Dataset data = make_dataset(table, "f", {.label_column = column}, {"kind", "a", "b"});
    EXPECT_TRUE(data.values.equal(values)) << column;
    EXPECT_TRUE(data.labels.equal(labels)) << column;
  }
  EXPECT_TRUE(make_dataset(table, "f", {.label_column = "last"}).labels.equal(at::tensor({1, 0}, at::kLong)));
  EXPECT_TRUE(make_dataset(table, "f", {.label_column = "2"}).labels.equal(at::tensor({0, 1}, at::kLong)));
  expect_error([&] { (void)make_dataset(table, "f", {.label_column = "4"}); }, {"columns 1 to 3"});
  expect_error([&] { (void)make_dataset(table + 0.5, "f.mat", {.label_column = "last"}); },
               {"f.mat", "row 1, column 3", "1.5", "whole number"});
  expect_error([&] { (void)make_dataset(at::zeros({2, 1}), "f", {.label_column = "last"}); }, {"no data"});
}

TEST(MakeDataset, CountsClassesFromOneWhereTheLeastLabelIsOne) {
  const at::Tensor table = at::tensor({1, 0, 3, 1, 2, 1}).view({3, 2});
  const Dataset data = make_dataset(table, "f", {.label_column = "first"});
  EXPECT_TRUE(data.labels.equal(at::tensor({0, 2, 1}, at::kLong)));
  EXPECT_EQ(data.first_label, 1);
  EXPECT_NE(data.remarks.at(0).find("labels 1 … 3 are 3 classes"), std::string::npos);
  EXPECT_TRUE(make_dataset(table, "f", {.label_column = "first", .first_label = "0"})
                  .labels.equal(at::tensor({1, 3, 2}, at::kLong)));
  expect_error([&] { (void)make_dataset(table - 1, "f", {.label_column = "first", .first_label = "1"}); },
               {"label 0", "first class is 1"});
}

TEST(MakeDataset, TakesNaNForAMissingValueAndRefusesColumnsWithoutAny) {
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const Dataset data = make_dataset(at::tensor({0.F, missing, 1.F, 1.F, missing, missing}).view({3, 2}), "f");
  EXPECT_EQ(data.missing, 3);
  EXPECT_EQ(data.scale, 1.0);
  EXPECT_EQ(data.slice(0, 1).missing, 1);
  EXPECT_EQ(data.select(at::tensor({1}, at::kLong)).missing, 0);
  EXPECT_TRUE(at::equal(data.column_means(), at::tensor({0.5, 1.0})));
  expect_error(
      [&] {
        (void)make_dataset(at::tensor({0.F, missing, 1.F, missing}).view({2, 2}), "f");
      },
      {"column 2", "no value"});
}

TEST(MakeDataset, KeepsRealNumbersAsFloats) {
  const at::Tensor reals = at::tensor({-1.5, 0.25, 3.0, 300.0}).view({2, 2});
  const Dataset data = make_dataset(reals, "f");
  EXPECT_TRUE(data.values.equal(reals.to(at::kFloat)));
  EXPECT_EQ(data.scale, 1.0);
  EXPECT_EQ(make_dataset(at::tensor({0.5, 1.0}).view({1, 2}), "f").values.scalar_type(), at::kFloat);
}

TEST(MakeDataset, KnowsPicturesByThreeDimensionsOrASquareWidth) {
  const auto image_of = [](std::vector<std::int64_t> shape) {
    return make_dataset(at::zeros(shape, at::kByte), "f").image;
  };
  ASSERT_TRUE(image_of({5, 3, 2}).has_value());
  EXPECT_EQ(image_of({5, 3, 2})->height, 3);
  EXPECT_EQ(image_of({5, 3, 2})->width, 2);
  EXPECT_EQ(image_of({5, 784})->height, 28);
  EXPECT_EQ(image_of({5, 16})->width, 4);
  EXPECT_FALSE(image_of({5, 9}).has_value());
  EXPECT_FALSE(image_of({5, 785}).has_value());
  EXPECT_EQ(make_dataset(at::zeros({5, 3, 2}), "f").columns(), 6);
}

TEST(MakeDataset, SaysThatASquareIsAGuessAndForgetsItWhereToldSo) {
  const auto survey = [](const std::string& shape) {
    return make_dataset(at::zeros({5, 16}, at::kByte), "f", {.shape = shape});
  };
  EXPECT_NE(survey("auto").remarks.at(0).find("pictures of 4 × 4 are a guess from 16 columns"), std::string::npos);
  EXPECT_TRUE(survey("2x8").remarks.empty());
  EXPECT_TRUE(survey("none").remarks.empty());
  EXPECT_FALSE(survey("none").image.has_value());
  EXPECT_FALSE(make_dataset(at::zeros({5, 4, 4}, at::kByte), "f", {.shape = "none"}).image.has_value());
  EXPECT_TRUE(make_dataset(at::zeros({5, 4, 4}, at::kByte), "f").remarks.empty()) << "the array itself has the shape";
}

TEST(MakeDataset, RejectsValuesThatAreNotFiniteNamingRowAndColumn) {
  for (const double bad : {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), 1e300}) {
    const at::Tensor array = at::tensor({0.0, 1.0, 2.0, bad, 4.0, 5.0}).view({2, 3});
    expect_error([&] { (void)make_dataset(array, "f.npy"); }, {"f.npy", "row 2, column 1"});
  }
}

TEST(MakeDataset, RejectsShapesThatAreNoTable) {
  expect_error([] { (void)make_dataset(at::zeros({5}), "f.npy"); }, {"f.npy", "5", "labels?"});
  expect_error([] { (void)make_dataset(at::zeros({1, 2, 3, 4}), "f.npy"); }, {"f.npy", "1×2×3×4"});
  expect_error([] { (void)make_dataset(at::zeros({0, 4}), "f.npy"); }, {"f.npy", "empty"});
  expect_error([] { (void)make_dataset(at::zeros({4, 0, 3}), "f.npy"); }, {"f.npy", "empty"});
}

TEST(MakeDataset, TakesRowsForFramesOfSequencesWhereItIsTold) {
  using Numbers = std::vector<std::int64_t>;
  const at::Tensor table = at::tensor({7., 0.5, 1., 7., 1.5, 0., 4., 2.5, 1., 9., 3.5, 0.}).view({4, 3});
  const auto of = [&](const std::string& sequences, const std::string& label = "auto") {
    return make_dataset(table, "f", {.label_column = label, .sequences = sequences}, {"song", "x", "y"});
  };
  EXPECT_EQ(of("2").lengths, (Numbers{2, 2}));
  EXPECT_EQ(of("2").columns(), 3);
  for (const char* column : {"song", "first"}) {
    EXPECT_EQ(of(column).lengths, (Numbers{2, 1, 1}));
    EXPECT_TRUE(of(column).values.equal(table.narrow(1, 1, 2).to(at::kFloat)));
  }
  const Dataset both = of("song", "y");
  EXPECT_TRUE(both.values.equal(table.narrow(1, 1, 1).to(at::kFloat)));
  EXPECT_TRUE(both.labels.equal(at::tensor({1, 0, 1, 0}, at::kLong)));
  EXPECT_TRUE(of("auto").lengths.empty());
  EXPECT_TRUE(of("none").lengths.empty());
  expect_error([&] { (void)of("3"); }, {"f", "4 rows", "3 frames"});
  expect_error([&] { (void)of("0"); }, {"f", "0 frames"});
  expect_error([&] { (void)of("last"); }, {"row 3", "elsewhere"});  // 1 comes back
  expect_error([&] { (void)of("melody"); }, {"melody", "no such column"});
  expect_error([&] { (void)of("song", "song"); }, {"label column"});
}

}  // namespace harmonium
