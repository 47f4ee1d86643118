#include "harmonium/core/utf8.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

TEST(Utf8, KnowsWellFormedText) {
  for (const char* good :
       {"", "data.csv", "caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF", "a\nb"})
    EXPECT_TRUE(is_utf8(good)) << good;
}

TEST(Utf8, RefusesStrayOverlongSurrogateCutAndTooLargeSequences) {
  for (const char* bad :
       {"caf\xE9.csv", "\x80", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82", "\xF4\x90\x80\x80", "\xFF"})
    EXPECT_FALSE(is_utf8(bad)) << escaped(bad);
}

TEST(Utf8, EscapesWhatATerminalCannotShow) { EXPECT_EQ(escaped("caf\xE9\n.csv"), "caf\\xE9\\x0A.csv"); }

}  // namespace
}  // namespace harmonium
