#include "harmonium/data/formats/json_numbers.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

using nlohmann::json;

TEST(WholeNumber, IsTakenFromIntegersAndFromWholeFloats) {
  EXPECT_EQ(whole_number(json::parse("-7")), -7);
  EXPECT_EQ(whole_number(json::parse("9223372036854775807")), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(whole_number(json::parse("2e3")), 2000);
  EXPECT_EQ(whole_number<std::uint64_t>(json::parse("18446744073709551615")),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(whole_number<int>(json::parse("-2147483648")), std::numeric_limits<int>::min());
  EXPECT_EQ(whole_numbers(json::parse("[1, 2.0]")), (std::vector<std::int64_t>{1, 2}));
}

// Each of these nlohmann would turn into some integer, or into an undefined one.
TEST(WholeNumber, IsRefusedWhereTheNumberDoesNotFitOrIsNotWhole) {
  for (const char* text :
       {"4.6e25", "-1e300", "9223372036854775808", "9223372036854775808.0", "1.5", "true", "null", "\"1\"", "[1]"})
    EXPECT_THROW((void)whole_number(json::parse(text)), json::exception) << text;
  EXPECT_THROW((void)whole_number<int>(json::parse("2147483648")), json::exception);
  EXPECT_THROW((void)whole_number<std::uint64_t>(json::parse("-1")), json::exception);
  EXPECT_THROW((void)whole_numbers(json::parse("7")), json::exception);
  EXPECT_THROW((void)whole_numbers(json::parse("[7, 1e40]")), json::exception);
}

}  // namespace
}  // namespace harmonium
