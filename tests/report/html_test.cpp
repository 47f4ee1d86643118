#include "harmonium/report/html.h"
#include "harmonium/core/number_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace harmonium {
namespace {

TEST(Html, EveryCharacterWithAMeaningIsEscaped) {
  EXPECT_EQ(escape_html("<b a='1' c=\"2\">&amp;</b> β"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt; β");
}

TEST(Html, JsonForAScriptCannotEndItAndStillSaysTheSame) {
  const nlohmann::json value = {{"name", "</script><!--<script>&\u2028β"}, {"y", {1.5, nullptr}}};
  const std::string safe = script_json(value);
  EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos);
  for (const char c : safe) EXPECT_LT(static_cast<unsigned char>(c), 128U);
  EXPECT_EQ(nlohmann::json::parse(safe), value);
}

TEST(Html, TextThatIsNotUtf8DoesNotBreakTheJson) {
  const nlohmann::json back = nlohmann::json::parse(script_json({{"name", "a\xff\xfe"}}));
  EXPECT_EQ(back["name"], "a\ufffd\ufffd");
}

TEST(Html, NumbersAreSetWithATrueMinusSign) {
  EXPECT_EQ(fixed_number(-21.345, 1), "−21.3");
  EXPECT_EQ(fixed_number(-0.001, 2), "0.00");
  EXPECT_EQ(short_number(20000), "20000");
  EXPECT_EQ(short_number(-1234567), "−1234567");
  EXPECT_EQ(short_number(3.14159265), "3.1416");
  EXPECT_EQ(short_number(1.5e-7), "1.5e−07");
  EXPECT_EQ(short_number(-std::numeric_limits<double>::infinity()), "−∞");
  EXPECT_EQ(fixed_number(std::numeric_limits<double>::quiet_NaN(), 3), "n/a");
}

}  // namespace
}  // namespace harmonium
