#include "harmonium/data/patches.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(BinaryPatches, AreTheWindowsAtEveryPlaceRowByRow) {
  const Dataset pictures{.name = "two",
                         .values = at::tensor({0, 127, 128, 255, 0, 0,  //
                                               255, 0, 0, 0, 0, 255},
                                              at::kByte)
                                       .reshape({2, 6}),
                         .scale = 1.0 / 255,
                         .labels = at::tensor({3, 4}, at::kLong),
                         .image = ImageShape{2, 3}};
  const Dataset patches = binary_patches(pictures, 2);
  const at::Tensor expected = at::tensor({0, 0, 1, 0,  // first picture: columns 0–1, then 1–2
                                          0, 1, 0, 0,  //
                                          1, 0, 0, 0,  //
                                          0, 0, 0, 1},
                                         at::kByte)
                                  .reshape({4, 4});
  EXPECT_TRUE(at::equal(patches.values, expected)) << patches.values;
  EXPECT_EQ(patches.image, (ImageShape{2, 2}));
  EXPECT_EQ(patches.binarization, Binarization::threshold);
  EXPECT_FALSE(patches.labels.defined());
  EXPECT_EQ(patches.scale, 1.0);
}

TEST(BinaryPatches, NeedPicturesLargeEnough) {
  const Dataset table{.name = "table", .values = at::zeros({2, 6}, at::kByte)};
  support::expect_mentions(support::message_of([&] { static_cast<void>(binary_patches(table, 2)); }),
                           {"table", "pictures"});
  Dataset small = table;
  small.image = ImageShape{2, 3};
  support::expect_mentions(support::message_of([&] { static_cast<void>(binary_patches(small, 3)); }),
                           {"2 × 3", "3 × 3"});
}

}  // namespace
}  // namespace harmonium
