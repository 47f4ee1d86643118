#include "harmonium/core/key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace harmonium {
namespace {

// The known-answer vectors published with Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedAnswerForZeros) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, GivesThePublishedAnswerForOnes) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, ones, ones),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, GivesThePublishedAnswerForTheDigitsOfPi) {
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsUsableAtCompileTime) {
  static_assert(philox({0, 0, 0, 0}, 0, 0)[0] == 0x6627e8d5);
  static_assert(Key(7).fold_in(1) == Key(7).fold_in(1));
}

TEST(Key, DrawsPhiloxWithTheIndexAsCounterAndTheSeedAsKey) {
  const Key key(0x299f31d0a4093822);
  EXPECT_EQ(key.block(0x85a308d3243f6a88), philox({0x243f6a88, 0x85a308d3, 0, 0}, 0xa4093822, 0x299f31d0));
}

TEST(Key, FoldingTheSameNameGivesTheSameStream) { EXPECT_EQ(Key(3).fold_in(11), Key(3).fold_in(11)); }

TEST(Key, FoldingDependsOnTheOrderOfNames) { EXPECT_NE(Key(3).fold_in(1).fold_in(2), Key(3).fold_in(2).fold_in(1)); }

TEST(Key, FoldingUsesAll64BitsOfSeedAndName) {
  const Key key(5);
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flag = std::uint64_t{1} << bit;
    EXPECT_NE(key.fold_in(0), key.fold_in(flag)) << "bit " << bit << " of the name";
    EXPECT_NE(key.fold_in(0), Key(key.bits() ^ flag).fold_in(0)) << "bit " << bit << " of the seed";
    EXPECT_NE(key.block(0), key.block(flag)) << "bit " << bit << " of the index";
  }
}

// A stream whose key were a draw of its parent would repeat what the parent's user already saw.
TEST(Key, NamesOfStreamsNeverShareACounterWithDraws) {
  const Key key(9);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const PhiloxBlock draw = key.block(i);
    EXPECT_NE(key.fold_in(i).bits(), static_cast<std::uint64_t>(draw[1]) << 32 | draw[0]);
  }
}

// 2^18 distinct keys out of 2^64: a truly random map would collide with probability 2^36 / 2^65 < 2e-9.
TEST(Key, ManyNamesAtTwoLevelsGiveDistinctStreams) {
  std::vector<std::uint64_t> streams;
  for (std::uint64_t step = 0; step < 512; ++step) {
    const Key below = Key(0).fold_in(step);
    for (std::uint64_t layer = 0; layer < 512; ++layer) streams.push_back(below.fold_in(layer).bits());
  }
  std::ranges::sort(streams);
  EXPECT_EQ(std::ranges::adjacent_find(streams), streams.end());
}

// Bits that differ between the streams of neighbouring names: binomial(128 N, 1/2); 5 sigma, false alarm 6e-7.
TEST(Key, StreamsOfNeighbouringNamesDifferInHalfTheirBits) {
  constexpr int pairs = 20000;
  std::int64_t different = 0;
  for (std::uint64_t name = 0; name < pairs; ++name) {
    const PhiloxBlock a = Key(1).fold_in(name).block(0), b = Key(1).fold_in(name + 1).block(0);
    for (std::size_t word = 0; word < 4; ++word) different += std::popcount(a[word] ^ b[word]);
  }
  constexpr double bits = 128.0 * pairs;
  EXPECT_NEAR(static_cast<double>(different), bits / 2, 5 * std::sqrt(bits / 4));
}

TEST(UnitInterval, ReachesZeroButNeverOne) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(to_unit_float(0), 0.0F);
  EXPECT_EQ(to_unit_float(most), 1.0F - 0x1p-24F);
  EXPECT_EQ(to_unit_double(0, 0), 0.0);
  EXPECT_EQ(to_unit_double(most, most), 1.0 - 0x1p-53);
}

TEST(UnitInterval, HasTheFullResolutionOfItsType) {
  EXPECT_EQ(to_unit_float(1U << 8), 0x1p-24F);
  EXPECT_EQ(to_unit_double(1U << 11, 0), 0x1p-53);
  EXPECT_EQ(to_unit_double(0, 1U << 31), 0.5);
}

}  // namespace
}  // namespace harmonium
