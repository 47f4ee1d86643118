// Sums of picked rows on the processor's matrix tiles (Intel's AMX), which multiply bytes: bits are bytes 0 and 1, and
// numbers are made of three digits of a byte each. Sums of digits are whole numbers and exact, so that they are the
// same in whatever order they are made.
//
// A column's numbers are taken as multiples of its largest one divided by 127·2^16: each is off by at most 2^-24 of the
// largest, which is what rounding costs in a float32 sum of them. Columns with a number that is not finite have no
// finite sums.
#pragma once

#include <cstddef>
#include <cstdint>

namespace harmonium {

inline constexpr std::int64_t tile_group = 32;    // rows of bits that are multiplied together
inline constexpr std::int64_t tile_bytes = 1024;  // 16 rows of 64 bytes
// Digits of a column block (column_blocks.h) with so many words of 64 rows, and bytes of a group of rows of bits.
constexpr std::size_t digit_bytes(std::int64_t words) { return static_cast<std::size_t>(12 * words * tile_bytes); }
constexpr std::size_t unit_bytes(std::int64_t words) { return static_cast<std::size_t>(2 * words * tile_bytes); }
inline constexpr std::size_t product_numbers = 24 * 256;  // of a group with the digits of a block

// Pointers are aligned to cache lines.
struct TileLoops {
  // What multiplies is between these two, in every thread.
  void (*begin)();
  void (*end)();
  // Digits of a column block of so many rows, and what its columns' whole numbers stand for (block_columns numbers).
  void (*split)(const float* block, std::int64_t rows, std::int8_t* digits, float* scales);
  // Bytes of at most tile_group rows of bits, `words` each.
  void (*expand)(const std::uint64_t* bits, std::int64_t words, std::int64_t rows, std::int8_t* units);
  // sums (rows × block_columns) of the first `columns` of a block; the others may be anything. `room`: product_numbers.
  void (*multiply)(const std::int8_t* units, std::int64_t words, std::int64_t rows, const std::int8_t* digits,
                   const float* scales, std::int64_t columns, std::int32_t* room, float* sums);
};

// Null where the processor has no such tiles, or the system does not lend them.
[[nodiscard]] const TileLoops* tile_loops();

}  // namespace harmonium
