#include "harmonium/data/formats/text_table.h"

#include "tests/files/support.h"

namespace harmonium {

namespace {

at::Tensor byte_table(std::initializer_list<int> values, std::int64_t columns) {
  return at::tensor(std::vector<int>(values)).to(at::kByte).view({-1, columns});
}
at::Tensor table_values(std::string_view text) { return parse_text_table(text, "f").values; }

void expect_table_rejected(std::string_view text, std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)parse_text_table(text, "table.csv"); }, {"table.csv"});
  expect_error([&] { (void)parse_text_table(text, "table.csv"); }, parts);
}

}  // namespace

TEST(TextTable, ReadsCommaSemicolonTabAndBlankSeparatedNumbers) {
  const at::Tensor expected = byte_table({1, 2, 30, 4, 5, 255}, 3);
  EXPECT_TRUE(table_values("1,2,30\n4,5,255\n").equal(expected));
  EXPECT_TRUE(table_values("1; 2 ;30\n4;5;255").equal(expected));
  EXPECT_TRUE(table_values("1\t2\t30\n4\t5\t255\n").equal(expected));
  EXPECT_TRUE(table_values("  1   2 30 \n4 5\t255 \n").equal(expected));
}

TEST(TextTable, SkipsHeaderCommentsEmptyLinesByteOrderMarkAndCarriageReturns) {
  const at::Tensor expected = byte_table({1, 2, 3, 4}, 2);
  EXPECT_TRUE(table_values("first,second\n1,2\n3,4\n").equal(expected));
  EXPECT_TRUE(table_values("\xEF\xBB\xBF# made by hand\r\n\r\n1,2\r\n\r\n3,4\r\n").equal(expected));
}

TEST(TextTable, StaysBytesUntilAValueDoesNotFit) {
  EXPECT_EQ(table_values("0 1 255\n").scalar_type(), at::kByte);
  EXPECT_TRUE(table_values("0 1\n2 256\n3 4\n").equal(at::tensor({0.F, 1.F, 2.F, 256.F, 3.F, 4.F}).view({3, 2})));
  EXPECT_TRUE(table_values("7 -1\n0 0.5\n").equal(at::tensor({7.F, -1.F, 0.F, 0.5F}).view({2, 2})));
}

TEST(TextTable, ReadsEveryWayToWriteANumber) {
  EXPECT_TRUE(table_values("+1,-2.5,1e2,1E-2,.5,5.,007\n")
                  .equal(at::tensor({1.F, -2.5F, 100.F, 0.01F, 0.5F, 5.F, 7.F}).view({1, 7})));
}

TEST(TextTable, TakesLabelsFromTheFirstOrLastColumn) {
  const TextTable last = parse_text_table("0,1,7\n1,0,-3\n", "f", LabelColumn::last);
  EXPECT_TRUE(last.values.equal(byte_table({0, 1, 1, 0}, 2)));
  EXPECT_TRUE(last.labels.equal(at::tensor({7, -3}, at::kLong)));
  const TextTable first = parse_text_table("label,a,b\n7,0,1\n3,1,0\n", "f", LabelColumn::first);
  EXPECT_TRUE(first.values.equal(byte_table({0, 1, 1, 0}, 2)));
  EXPECT_TRUE(first.labels.equal(at::tensor({7, 3}, at::kLong)));
  EXPECT_FALSE(parse_text_table("1,2\n", "f").labels.defined());
}

TEST(TextTable, RejectsLabelsThatAreNotIntegersNamingThePlace) {
  expect_error([] { (void)parse_text_table("0,1\n0,1.5\n", "t.csv", LabelColumn::last); },
               {"t.csv", "line 2, column 2", "1.5"});
  expect_error([] { (void)parse_text_table("1\n2\n", "t.csv", LabelColumn::last); }, {"t.csv", "no data"});
  EXPECT_EQ(parse_label_column("last"), LabelColumn::last);
  expect_error([] { (void)parse_label_column("middle"); }, {"middle", "none, first or last"});
}

TEST(TextTable, RejectsRaggedRowsNamingTheLine) {
  expect_table_rejected("1,2,3\n4,5,6\n7,8\n", {"line 3 has 2 columns", "have 3"});
  expect_table_rejected("# comment\n\n1 2\n3 4 5\n", {"line 4 has 3 columns", "have 2"});
}

TEST(TextTable, RejectsWhatIsNoFiniteNumberNamingLineAndColumn) {
  for (const char* bad :
       {"nan", "NaN", "inf", "-inf", "1e39", "1e999", "abc", "1x", "0x10", "1.2.3", "--1", "+-1", "1 2", "\"1\""})
    expect_table_rejected(format("1,2,3\n4,{},6\n", bad), {"line 2, column 2"});
  expect_table_rejected("1,2,3\n4,,6\n", {"line 2, column 2", "empty"});
  expect_table_rejected("1,2,3\n4,5,\n", {"line 2, column 3", "empty"});
  expect_table_rejected("0 1\n0 one\n", {"line 2, column 2", "'one'"});
}

TEST(TextTable, RejectsAFirstLineThatIsHalfAHeader) {
  expect_table_rejected("label,1\n1,2\n", {"line 1, column 1", "'label'"});
}

TEST(TextTable, RejectsTextWithoutNumbers) {
  expect_table_rejected("", {"no row of numbers"});
  expect_table_rejected("only a sentence\n", {"no row of numbers"});
}

TEST(TextTable, KnowsTextFromBinary) {
  EXPECT_TRUE(is_text("1,2\r\n\t\xC3\xA4"));
  EXPECT_FALSE(is_text(std::string_view("1,2\0", 4)));
}

}  // namespace harmonium
