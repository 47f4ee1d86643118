#include "harmonium/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

TEST(Synthetic, EverySetGivesEveryPartItNamesAsBitsCountsOrGrayPictures) {
  for (const auto& info : synthetic_sets())
    for (const auto& part : info.parts) {
      const Dataset data = synthetic(info.name, part, {.rows = 20});
      EXPECT_EQ(data.name, info.name + ":" + part);
      const bool gray = info.name == "capsule_scenes";
      EXPECT_EQ(data.is_binary(), !data.counts && !gray) << info.name;
      EXPECT_EQ(data.counts, info.name == "corpus") << info.name;
      if (gray) {
        require_unit_interval(data);
      }
      if (part != "all") {
        EXPECT_EQ(data.rows(), 20);
      }
    }
}

TEST(Synthetic, PartsAreDifferentDrawsAndTheSeedNamesThem) {
  for (const auto& info : synthetic_sets()) {
    const auto values = [&](const char* part, std::uint64_t seed) {
      return synthetic(info.name, part, {.rows = 50, .seed = seed}).values;
    };
    EXPECT_TRUE(at::equal(values("train", 1), values("train", 1))) << info.name;
    EXPECT_FALSE(at::equal(values("train", 1), values("test", 1))) << info.name;
    EXPECT_FALSE(at::equal(values("valid", 1), values("test", 1))) << info.name;
    EXPECT_FALSE(at::equal(values("train", 1), values("train", 2))) << info.name;
  }
}

TEST(Synthetic, TheSizeChangesTheColumns) {
  const auto columns = [](const char* name, std::int64_t size) {
    return synthetic(name, "train", {.size = size, .rows = 2}).columns();
  };
  EXPECT_EQ(columns("bars_and_stripes", 3), 9);
  EXPECT_EQ(columns("shifter", 4), 11);
  EXPECT_EQ(columns("rectangles_and_triangles", 12), 144);
  EXPECT_EQ(columns("random_rbm", 10), 10);
  EXPECT_EQ(columns("corpus", 30), 30);
}

TEST(Synthetic, KnowsTheEntropyWhereThereIsAFormulaOrAnEnumeration) {
  EXPECT_DOUBLE_EQ(synthetic_entropy("bars_and_stripes").value(), std::log(30.0));
  EXPECT_DOUBLE_EQ(synthetic_entropy("shifter").value(), std::log(768.0));
  EXPECT_FALSE(synthetic_entropy("rectangles_and_triangles").has_value());
  EXPECT_TRUE(synthetic_entropy("random_rbm").has_value());
  EXPECT_FALSE(synthetic_entropy("random_rbm", {.size = 30}).has_value());
}

TEST(Synthetic, RefusesUnknownNamesAndParts) {
  EXPECT_THROW((void)synthetic("stripes", "train"), Error);
  EXPECT_THROW((void)synthetic("shifter", "holdout"), Error);
  EXPECT_THROW((void)synthetic("random_rbm", "all"), Error);
}

}  // namespace
}  // namespace harmonium
