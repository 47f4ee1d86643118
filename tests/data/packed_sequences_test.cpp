#include "harmonium/data/packed_sequences.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/data/split.h"

namespace harmonium {
namespace {

// Row r holds r; sequences of 2, 4, 1 and 4 frames.
Dataset melodies() {
  return {.name = "melodies", .values = at::arange(11, at::kFloat).unsqueeze(1), .lengths = {2, 4, 1, 4}};
}

std::vector<std::int64_t> numbers_in(const at::Tensor& values) {
  const at::Tensor whole = values.to(at::kLong).contiguous();
  return {whole.data_ptr<std::int64_t>(), whole.data_ptr<std::int64_t>() + whole.numel()};
}

using Numbers = std::vector<std::int64_t>;

TEST(PackedSequences, StandLongestFirstStepAfterStep) {
  const PackedSequences packed = pack(melodies(), at::arange(4, at::kLong));
  EXPECT_EQ(packed.order, (Numbers{1, 3, 0, 2}));
  EXPECT_EQ(packed.lengths, (Numbers{4, 4, 2, 1}));
  EXPECT_EQ(packed.alive, (Numbers{4, 3, 2, 2}));
  EXPECT_EQ(numbers_in(packed.rows), (Numbers{2, 7, 0, 6, 3, 8, 1, 4, 9, 5, 10}));
}

TEST(PackedSequences, AreThoseAskedForEvenTwice) {
  const PackedSequences packed = pack(melodies(), at::tensor({2, 0, 2}, at::kLong));
  EXPECT_EQ(packed.order, (Numbers{0, 2, 2}));
  EXPECT_EQ(numbers_in(packed.rows), (Numbers{0, 6, 6, 1}));
  EXPECT_EQ(packed.alive, (Numbers{3, 1}));
}

TEST(PackedSequences, OfIndependentRowsHaveOneFrame) {
  Dataset rows = melodies();
  rows.lengths.clear();
  const PackedSequences packed = pack(rows, at::tensor({5, 3}, at::kLong));
  EXPECT_EQ(numbers_in(packed.rows), (Numbers{5, 3}));
  EXPECT_EQ(packed.alive, (Numbers{2}));
  EXPECT_THROW((void)pack(rows, at::tensor({11}, at::kLong)), Error);
  EXPECT_THROW((void)pack(melodies(), at::tensor({4}, at::kLong)), Error);
}

TEST(Sequences, StayWholeWhereCasesAreTaken) {
  const Dataset some = melodies().select_cases(at::tensor({3, 0}, at::kLong));
  EXPECT_EQ(some.lengths, (Numbers{4, 2}));
  EXPECT_EQ(numbers_in(some.values), (Numbers{7, 8, 9, 10, 0, 1}));
  EXPECT_EQ(melodies().cases(), 4);
  EXPECT_THROW((void)melodies().select_cases(at::tensor({4}, at::kLong)), Error);
}

TEST(Sequences, BecomeIndependentRowsWhereRowsAreTaken) {
  EXPECT_TRUE(melodies().slice(0, 6).lengths.empty());
  EXPECT_TRUE(melodies().select(at::tensor({0, 1}, at::kLong)).lengths.empty());
  EXPECT_EQ(melodies().slice(0, 6).cases(), 6);
}

TEST(Sequences, AreNeverCutByASplit) {
  const Split parts = split(melodies(), {.train = 2, .valid = 1, .test = 1}, Key(3));
  Numbers rows;
  for (const Dataset* part : {&parts.train, &parts.valid, &parts.test}) {
    std::int64_t first = 0;
    for (const std::int64_t length : part->lengths) {
      const Numbers own = numbers_in(part->values.narrow(0, first, length));
      for (std::size_t i = 1; i < own.size(); ++i) EXPECT_EQ(own[i], own[i - 1] + 1);
      rows.insert(rows.end(), own.begin(), own.end());
      first += length;
    }
    EXPECT_EQ(first, part->rows());
  }
  EXPECT_EQ(parts.train.cases(), 2);
  std::ranges::sort(rows);
  EXPECT_EQ(rows, numbers_in(at::arange(11, at::kLong)));
  EXPECT_THROW((void)split(melodies(), {.train = 5}, Key(3)), Error);
}

}  // namespace
}  // namespace harmonium
