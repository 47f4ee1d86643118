#include "harmonium/training/batch_stream.h"
#include "harmonium/kernels/random.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

// Row r holds the value r in its only column, so that batches can be read off.
Dataset numbered(std::int64_t rows) {
  return {.name = "numbers",
          .values = at::arange(rows, at::kFloat).unsqueeze(1),
          .labels = at::remainder(at::arange(rows, at::kLong), 3)};
}

std::vector<std::int64_t> rows_of(const at::Tensor& batch) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < batch.size(0); ++i) rows.push_back(batch[i][0].item<std::int64_t>());
  return rows;
}

TEST(BatchStream, VisitsEveryRowOnceInEveryEpochEvenWhenBatchesStraddleEpochs) {
  BatchStream stream(numbered(10), {.batch = 4}, Key(1));
  std::vector<std::int64_t> seen;
  for (std::int64_t update = 0; update < 10; ++update)
    for (const std::int64_t row : rows_of(stream.batch(update)[0])) seen.push_back(row);
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::vector<std::int64_t> rows(seen.begin() + 10 * epoch, seen.begin() + 10 * (epoch + 1));
    std::ranges::sort(rows);
    for (std::int64_t row = 0; row < 10; ++row)
      EXPECT_EQ(rows[static_cast<std::size_t>(row)], row) << "epoch " << epoch;
  }
}

TEST(BatchStream, GivesTheSameBatchWhateverWasAskedBefore) {
  const Dataset gray{.name = "gray", .values = at::full({20, 5}, 0.5)};
  const BatchOptions options{.batch = 7, .binarization = Binarization::stochastic};
  BatchStream walked(gray, options, Key(3)), jumped(gray, options, Key(3));
  for (std::int64_t update = 0; update < 9; ++update) (void)walked.batch(update);
  EXPECT_TRUE(at::equal(walked.batch(9)[0], jumped.batch(9)[0]));
}

TEST(BatchStream, DrawsFreshBitsForTheSameRowAtEveryUpdate) {
  const Dataset gray{.name = "gray", .values = at::full({1, 200}, 0.5)};
  BatchStream stream(gray, {.batch = 1, .binarization = Binarization::stochastic}, Key(3));
  // Two draws of 200 fair bits are equal with probability 2^-200.
  EXPECT_FALSE(at::equal(stream.batch(0)[0], stream.batch(1)[0]));
}

TEST(BatchStream, ABatchLargerThanTheDataHoldsWholeEpochs) {
  BatchStream stream(numbered(3), {.batch = 7}, Key(1));
  EXPECT_EQ(stream.batch(0)[0].size(0), 7);
}

// Sequences of 3, 1 and 2 frames among six rows.
TEST(BatchStream, DealsOutWholeSequencesWhereTheseAreAskedFor) {
  Dataset data = numbered(6);
  data.lengths = {3, 1, 2};
  const BatchOptions options{.batch = 2, .sequences = true};
  BatchStream stream(data, options, Key(1));
  std::vector<std::int64_t> seen;
  for (std::int64_t update = 0; update < 3; ++update) {
    const auto batch = stream.batch(update);
    ASSERT_EQ(batch.size(), 2U);
    EXPECT_EQ(batch[1].sum().item<std::int64_t>(), batch[0].size(0)) << "frames fall into steps";
    EXPECT_EQ(batch[1][0].item<std::int64_t>(), 2) << "two sequences begin";
    for (const std::int64_t row : rows_of(batch[0])) seen.push_back(row);
  }
  std::ranges::sort(seen);  // two epochs
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_DOUBLE_EQ(stream.epoch(3), 2);
  // A batch of the first and the last: frame after frame, the longer one first.
  for (std::int64_t update = 0; update < 30; ++update) {
    const std::vector<std::int64_t> rows = rows_of(stream.batch(update)[0]);
    if (rows.size() == 5) {
      EXPECT_EQ(rows, (std::vector<std::int64_t>{0, 4, 1, 5, 2}));
    }
  }
  // Independent rows are sequences of one frame, and a stream of rows takes no notice of sequences.
  EXPECT_EQ(BatchStream(numbered(6), options, Key(1)).batch(0)[1].sizes(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(BatchStream(data, {.batch = 4}, Key(1)).batch(0)[0].size(0), 4);
}

TEST(BatchStream, CarriesTheLabelOfEachRow) {
  BatchStream stream(numbered(9), {.batch = 5, .classes = 3}, Key(1));
  const auto batch = stream.batch(0);
  ASSERT_EQ(batch.size(), 2U);
  for (std::int64_t i = 0; i < 5; ++i)
    EXPECT_EQ(batch[1][i].argmax().item<std::int64_t>(), batch[0][i][0].item<std::int64_t>() % 3);
}

TEST(BatchStream, ShrinksValuesAwayFromCertainty) {
  const Dataset bits{.name = "bits", .values = at::tensor({0.0F, 1.0F}).unsqueeze(0)};
  const at::Tensor batch = BatchStream(bits, {.batch = 1, .shrink = 0.1}, Key(1)).batch(0)[0];
  EXPECT_NEAR(batch[0][0].item<double>(), 0.1, 1e-7);
  EXPECT_NEAR(batch[0][1].item<double>(), 0.9, 1e-7);
}

TEST(BatchStream, RefusesEmptyDataAndMissingLabels) {
  EXPECT_THROW(BatchStream(Dataset{.name = "none", .values = at::empty({0, 3})}, {}, Key(1)), Error);
  EXPECT_THROW(BatchStream(Dataset{.name = "bare", .values = at::zeros({2, 3})}, {.classes = 2}, Key(1)), Error);
}

// What a device does with data that are bits already: it draws them, and they come out as they are.
TEST(BatchStream, BitsDrawnFromBitsAreTheSameBits) {
  const at::Tensor bits = uniform(Key(1), {30, 8}).lt(0.4).to(at::kByte);
  BatchStream stream({.name = "bits", .values = bits}, {.batch = 12}, Key(2));
  for (std::int64_t update = 0; update < 4; ++update) {
    const BatchStream::ByteBatch batch = stream.byte_batch(update);
    EXPECT_TRUE(at::equal(sample_bernoulli(batch.key, batch.bytes, batch.rows.contiguous(), batch.scale),
                          stream.batch(update)[0]));
  }
}

}  // namespace
}  // namespace harmonium
