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

TEST(TextTable, ReadsFieldsInQuotesAndSeparatorsInsideThem) {
  EXPECT_TRUE(table_values("\"0\",\"1\"\n1,0\n0,1\n").equal(byte_table({0, 1, 1, 0, 0, 1}, 2)))
      << "a first line of quoted numbers is a row";
  const TextTable table = parse_text_table("\"weight, kg\",\"say \"\"no\"\"\"\n1,0\n", "f");
  EXPECT_EQ(table.header, (std::vector<std::string>{"weight, kg", "say \"no\""}));
  EXPECT_EQ(parse_text_table("\"kind\",\"2019\"\n1,0\n", "f").header.size(), 2U) << "text in quotes makes a header";
  expect_table_rejected("1,2\n\"1,2\n", {"line 2", "not closed"});
}

TEST(TextTable, ReadsDecimalCommasBetweenSemicolons) {
  const at::Tensor expected = at::tensor({0.5F, 1.F, 2.25F, 3.F}).view({2, 2});
  EXPECT_TRUE(table_values("0,5;1,0\n2,25;3\n").equal(expected)) << "the first line is a row";
  EXPECT_EQ(parse_text_table("0,5;1,0\n", "f").dialect, "separated by ;, decimal commas");
  expect_table_rejected("0,5;1\n0.5;1\n", {"line 2, column 1", "decimal point"});
}

TEST(TextTable, TakesEmptyFieldsAndNaForMissingValues) {
  for (const char* mark : {"", "NaN", "nan", "NA", "N/A", "null", "?", "\"\"", " "}) {
    const at::Tensor values = table_values(format("1,2,3\n4,{},6\n", mark));
    EXPECT_EQ(values.isnan().sum().item<int>(), 1) << mark;
    EXPECT_TRUE(values[1][1].isnan().item<bool>()) << mark;
  }
  EXPECT_TRUE(table_values("1,2,3\n4,5,\n")[1][2].isnan().item<bool>());
  EXPECT_EQ(table_values(",1\n1,0\n").size(0), 2) << "a first line with a missing value is a row";
}

TEST(TextTable, SaysWhatItTookForAHeaderAndForASeparator) {
  EXPECT_EQ(parse_text_table("a,b\n1,2\n", "f").header, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(parse_text_table("1,2\n", "f").header.empty());
  EXPECT_EQ(parse_text_table("1\t2\n", "f").dialect, "separated by tabs");
  EXPECT_EQ(parse_text_table("1 2\n", "f").dialect, "separated by blanks");
  expect_table_rejected("a,b,c\n1,2\n", {"header has 3 fields", "rows have 2"});
}

TEST(TextTable, RejectsRaggedRowsNamingTheLine) {
  expect_table_rejected("1,2,3\n4,5,6\n7,8\n", {"line 3 has 2 columns", "have 3", "separated by ,"});
  expect_table_rejected("# comment\n\n1 2\n3 4 5\n", {"line 4 has 3 columns", "have 2"});
}

TEST(TextTable, RejectsWhatIsNoFiniteNumberNamingLineAndColumn) {
  for (const char* bad : {"inf", "-inf", "1e39", "1e999", "abc", "1x", "0x10", "1.2.3", "--1", "+-1", "1 2", "\"x\""})
    expect_table_rejected(format("1,2,3\n4,{},6\n", bad), {"line 2, column 2"});
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
