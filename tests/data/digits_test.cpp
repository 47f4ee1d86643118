#include "harmonium/data/digits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harmonium/core/sha256.h"

namespace harmonium {
namespace {

TEST(Digits, HoldAllImagesWithTheirPublishedTotals) {
  const Dataset data = digits();
  EXPECT_EQ(data.rows(), 1797);
  EXPECT_EQ(data.columns(), 64);
  EXPECT_EQ(data.image, (ImageShape{8, 8}));
  EXPECT_EQ(data.values.min().item<int>(), 0);
  EXPECT_EQ(data.values.max().item<int>(), 16);
  // The sum over all pixels and the images per class of the original file.
  EXPECT_EQ(data.values.to(at::kLong).sum().item<std::int64_t>(), 561718);
  const std::vector<std::int64_t> per_class = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  EXPECT_TRUE(at::equal(data.labels.bincount(), at::tensor(per_class, at::kLong)));
}

TEST(Digits, BeginWithTheWellKnownZero) {
  const std::vector<int> first_rows = {0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0};
  const Dataset data = digits();
  EXPECT_TRUE(at::equal(data.values[0].narrow(0, 0, 16), at::tensor(first_rows, at::kByte)));
  EXPECT_EQ(data.labels[0].item<int>(), 0);
  EXPECT_EQ(data.labels[1796].item<int>(), 8);
}

TEST(Digits, LieInTheUnitIntervalAfterScaling) {
  EXPECT_NO_THROW(require_unit_interval(digits()));
  EXPECT_EQ(digits().to_float().max().item<float>(), 1.F);
}

TEST(Digits, TheSplitUsesEveryImageOnce) {
  const Split parts = digits_split();
  EXPECT_EQ(parts.train.rows(), 1297);
  EXPECT_EQ(parts.valid.rows(), 200);
  EXPECT_EQ(parts.test.rows(), 300);
  EXPECT_EQ(parts.test.name, "digits:test");
  std::multiset<std::string> split_rows, rows;
  const auto collect = [](const Dataset& data, std::multiset<std::string>& into) {
    for (std::int64_t r = 0; r < data.rows(); ++r)
      into.emplace(reinterpret_cast<const char*>(data.values[r].data_ptr<std::uint8_t>()), 64);
  };
  collect(digits(), rows);
  for (const auto& part : {parts.train, parts.valid, parts.test}) collect(part, split_rows);
  EXPECT_EQ(split_rows, rows);
}

TEST(Digits, TheSplitNeverChanges) {
  // Published numbers depend on these rows. The sums were computed from the file by a separate implementation of
  // Philox.
  const auto checksum = [](const Dataset& data) {
    return sha256({reinterpret_cast<const char*>(data.values.data_ptr<std::uint8_t>()),
                   static_cast<std::size_t>(data.values.numel())});
  };
  const Split parts = digits_split();
  EXPECT_EQ(checksum(parts.train), "e3765cdc6be5ffad8c038c56ce0283a1cac08cd43ce5cc84f2af39b759c101f1");
  EXPECT_EQ(checksum(parts.valid), "f202d3839095b2049c1812f0793edff621b85a05b4d94b9bf2697dce554ae82c");
  EXPECT_EQ(checksum(parts.test), "0339dd65400365b480207679d1f5128fbc3d5365520a3277d6e10f9e355043a1");
}

}  // namespace
}  // namespace harmonium
