#include "harmonium/data/average_blocks.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

TEST(AverageBlocks, EveryBlockBecomesItsMean) {
  // Two pictures of 2 × 4 bytes of gray; blocks of 2 × 2.
  const Dataset pictures{.name = "pictures",
                         .values = at::tensor({0, 255, 51, 51, 255, 0, 51, 51,  //
                                               0, 0, 255, 255, 0, 0, 255, 0},
                                              at::kByte)
                                       .view({2, 8}),
                         .scale = 1.0 / 255,
                         .labels = at::tensor({3, 4}, at::kLong),
                         .image = ImageShape{2, 4}};
  const Dataset smaller = average_blocks(pictures, 2);
  EXPECT_TRUE(at::allclose(smaller.to_float(), at::tensor({0.5, 0.2, 0.0, 0.75}, at::kFloat).view({2, 2})));
  EXPECT_EQ(smaller.image, (ImageShape{1, 2}));
  EXPECT_TRUE(at::equal(smaller.labels, pictures.labels));
}

TEST(AverageBlocks, RefusesWhatIsNotPicturesOrDoesNotDivide) {
  Dataset rows{.name = "rows", .values = at::zeros({1, 6}), .image = ImageShape{2, 3}};
  EXPECT_THROW((void)average_blocks(rows, 2), Error);
  rows.image.reset();
  EXPECT_THROW((void)average_blocks(rows, 1), Error);
}

}  // namespace
}  // namespace harmonium
