#include "harmonium/core/error.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

std::string as_flag(const std::string& name) { return "--" + name; }

TEST(Error, NamesOptionsPlainlyAndLetsAFrontEndSpellThem) {
  const Error error("Lower @rate_weights and (@rate_bias), or use `@batch 20`");
  EXPECT_STREQ(error.what(), "Lower rate_weights and (rate_bias), or use `batch 20`");
  EXPECT_EQ(spell_options(error.marked(), as_flag), "Lower --rate_weights and (--rate_bias), or use `--batch 20`");
  EXPECT_STREQ(RunFailure("@seed").what(), "seed");
}

TEST(Error, LeavesOtherUsesOfTheMarkAlone) {
  for (const char* text : {"me@home.npy", "/data/a@seed/b", "a @ b", "@", "rows @", "@1", "user@seed: no such file"})
    EXPECT_EQ(spell_options(text, as_flag), text);
}

TEST(Error, KeepsMarksWhereAMessageIsPartOfAnother) {
  try {
    try {
      fail("@layers {}: no number", "x");
    } catch (const Error& error) {
      fail("recipe.toml: {}", error.marked());
    }
  } catch (const Error& error) {
    EXPECT_EQ(spell_options(error.marked(), as_flag), "recipe.toml: --layers x: no number");
  }
}

}  // namespace
}  // namespace harmonium
