#include "harmonium/core/named_place.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

std::string refusal(const std::string& inner) {
  try {
    naming("a/model.safetensors", [&] { throw Error(inner); });
  } catch (const Error& error) {
    return error.marked();
  }
  return "none";
}

TEST(Naming, PutsTheFileBeforeWhatIsWrong) {
  EXPECT_EQ(refusal("unknown unit type 'x'; see @hidden"), "a/model.safetensors: unknown unit type 'x'; see @hidden");
}

TEST(Naming, SaysItOnce) {
  EXPECT_EQ(refusal("a/model.safetensors: cut short"), "a/model.safetensors: cut short");
  EXPECT_EQ(refusal("there is no a/model.safetensors"), "there is no a/model.safetensors");
}

TEST(Naming, PassesOnWhatIsReturned) {
  EXPECT_EQ(naming("file", [] { return 3; }), 3);
}

}  // namespace
}  // namespace harmonium
