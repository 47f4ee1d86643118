#include "harmonium/report/confusion.h"

#include <gtest/gtest.h>

#include "tests/report/temporary_folder.h"

namespace harmonium {
namespace {

ClassificationResult two_classes() {
  ClassificationResult result;
  result.data = "digits:test";
  result.binarization = "none";
  result.n = 120;
  result.wrong = 12;
  result.confusion = {{99, 1}, {11, 9}};
  result.mistakes = {{.row = 4, .truth = 1, .predicted = 0, .log_probability = -3}};
  return result;
}

std::vector<int> colour_at(const Picture& picture, std::int64_t row, std::int64_t column) {
  const auto start = picture.pixels.begin() + (row * picture.width + column) * picture.channels;
  return {start, start + picture.channels};
}

TEST(Confusion, TextAndTableHaveTheCountsAndTheErrorOfEveryClass) {
  const std::string text = confusion_text(two_classes());
  for (const std::string part : {"99", "11", " 1.00 %", "55.00 %"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  const Table table = confusion_table(two_classes());
  EXPECT_EQ(table.header, (std::vector<std::string>{"true", "as 0", "as 1", "error"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1][1], "11");
  EXPECT_EQ(percent({0.0128, 0.0108, 0.0152}), "1.28 % [1.08, 1.52]");
}

TEST(Confusion, PictureIsBlueOnTheDiagonalAndDarkestRedAtTheWorst) {
  const Picture picture = confusion_picture(two_classes());
  // Squares of 28 pixels after a margin of 28; looked at in their corner, where no number is.
  const auto corner = [&](int truth, int predicted) {
    return colour_at(picture, 28 + 28 * truth + 2, 28 + 28 * predicted + 2);
  };
  EXPECT_GT(corner(0, 0)[2], corner(0, 0)[0]);
  EXPECT_GT(corner(1, 0)[0], corner(1, 0)[2]);
  EXPECT_LT(corner(1, 0)[1], corner(0, 1)[1]);
}

TEST(Confusion, MistakesAreEnlargedWithTheirClassesBelow) {
  const at::Tensor images = at::full({1, 4}, 0.5);
  const Picture picture = mistakes_picture(two_classes(), images, {2, 2});
  // 2 × 2 is enlarged to 28 × 28, then a band of 7 for the text, all twice; a gap of 2 around.
  EXPECT_EQ(picture.width, 28 * 2 + 4);
  EXPECT_EQ(picture.height, (28 + 7) * 2 + 4);
  EXPECT_EQ(colour_at(picture, 10, 10), std::vector<int>{128});
  // "1>0" is 11 wide and starts at column 8; its first row has the top of the 1, and of the 0.
  const auto text = [&](std::int64_t row, std::int64_t column) {
    return colour_at(picture, 2 + 2 * (28 + 1 + row), 2 + 2 * (8 + column))[0];
  };
  EXPECT_EQ(text(0, 0), 0);
  EXPECT_EQ(text(0, 1), 255);
  EXPECT_EQ(text(0, 8), 255);
  EXPECT_EQ(text(1, 9), 0);
}

TEST(Confusion, StackedPicturesKeepTheirPixels) {
  const Picture gray{1, 2, 1, {10, 20}}, colour{1, 1, 3, {1, 2, 3}};
  const Picture both = stacked({gray, colour});
  EXPECT_EQ(both.width, 2);
  EXPECT_EQ(colour_at(both, 0, 1), (std::vector<int>{20, 20, 20}));
  EXPECT_EQ(colour_at(both, both.height - 1, 0), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(colour_at(both, both.height - 1, 1), (std::vector<int>{255, 255, 255}));
}

TEST(Confusion, ReportSaysErrorIntervalAndRows) {
  ReportContent content;
  add_classifications(content, {two_classes()}, read_mistakes("nowhere"));
  const std::string page = render_report(content);
  for (const std::string part : {"10.00", "5.81", "16.67", "12 of 120 rows", "gallery-confusion", "table-confusion"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("gallery-mistakes"), std::string::npos);
}

}  // namespace
}  // namespace harmonium
