// How a binary RBM lies in the memory of a GPU while chains walk through it (rbm_walk.h).
//
// Eight multiprocessors, a team, hold all weights in shared memory (fp16): each has a slab of columns of the visible
// layer (for drawing visible units, all hidden units long) and one of the hidden layer. Sixteen units of a layer are a
// step of the tensor cores, and a slab is a few of them. A chain's state is bits in 32-bit words: word (row, lane,
// slab), because a thread that stands for a lane of a row draws, from the sums it holds, just the units of one word,
// and later reads all words of its lane. Within a word, step s of the slab has units 0, 2 at bits 2s, 2s+1 and units 1,
// 3 sixteen higher, so that pairs come out as two halves of a register (rbm_draw.cuh).
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define HARMONIUM_BOTH __host__ __device__
#else
#define HARMONIUM_BOTH
#endif

namespace harmonium::cuda {

inline constexpr int team = 8;                      // multiprocessors that share the weights, and slabs of a layer
inline constexpr int row_words = 4 * team;          // words of a row: four lanes
inline constexpr int tile_rows = 64;                // rows that a warpgroup multiplies at once
inline constexpr std::uint32_t tag_bit = 1u << 15;  // of every word: how often the layer was drawn, even or odd

// The tensor cores number the sixteen units of a step otherwise: place k among them is unit 4·lane + i of the step with
// lane and i such that a thread holds four consecutive units, which share a block of random numbers.
HARMONIUM_BOTH constexpr int unit_of_place(int k) { return k / 16 * 16 + k % 8 / 2 * 4 + k % 16 / 8 * 2 + k % 2; }

struct BitPlace {
  int word, bit;
};
// Where unit `unit` of a layer with slabs of `slab` units is within its row.
HARMONIUM_BOTH constexpr BitPlace bit_place(int unit, int slab) {
  const int step = unit % slab / 16, lane = unit % 16 / 4, i = unit % 4;
  return {lane * team + unit / slab, 2 * step + i / 2 + 16 * (i % 2)};
}

// Where the mean of a unit is in a table of them (fp16): 64 rows of 128 units are together, and in them, as tensor
// cores read them, eight rows of eight units are 128 bytes, a row's numbers side by side. Widths are multiples of 128.
HARMONIUM_BOTH constexpr std::size_t mean_place(std::size_t row, int unit, int width) {
  const std::size_t block = row / 64 * (static_cast<std::size_t>(width) / 128) + static_cast<std::size_t>(unit) / 128;
  return block * (64 * 128) + row % 64 / 8 * (8 * 128) + static_cast<std::size_t>(unit) % 128 / 8 * 64 + row % 8 * 8 +
         static_cast<std::size_t>(unit) % 8;
}

// Where a gray value of a visible unit is in a table of them (fp16): 64 rows of a slab are together, and in them eight
// rows of eight units as above.
HARMONIUM_BOTH constexpr std::size_t gray_place(std::size_t row, int unit, int slab, int slabs) {
  const std::size_t block = row / 64 * static_cast<std::size_t>(slabs) + static_cast<std::size_t>(unit / slab);
  return (block * 64 + row % 64 / 8 * 8) * static_cast<std::size_t>(slab) +
         static_cast<std::size_t>(unit % slab / 8) * 64 + row % 8 * 8 + static_cast<std::size_t>(unit % 8);
}

// Widths of slabs that a walk is compiled for, and how many of them a layer may fill.
struct WalkShape {
  int visible_slab = 0, visible_slabs = 0, hidden_slab = 0, hidden_slabs = 0;

  [[nodiscard]] HARMONIUM_BOTH constexpr bool valid() const { return visible_slab > 0; }
  // fp16 numbers that one multiprocessor holds: the slab of hidden columns, then that of visible ones.
  [[nodiscard]] HARMONIUM_BOTH constexpr int up_numbers() const { return hidden_slab * visible_slab * visible_slabs; }
  [[nodiscard]] HARMONIUM_BOTH constexpr int down_numbers() const { return visible_slab * hidden_slab * hidden_slabs; }
  [[nodiscard]] HARMONIUM_BOTH constexpr int numbers() const { return up_numbers() + down_numbers(); }
};

}  // namespace harmonium::cuda
