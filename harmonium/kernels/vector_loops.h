// The loops that compilers do not vectorise well by themselves, written with vector types and compiled once for every
// instruction set (vector_loops_body.h, vector_draws_body.h). The best one is picked when the program first asks.
#pragma once

#include <cstdint>

namespace harmonium {

inline constexpr std::int64_t block_columns = 64;  // columns of a matrix that are worked on together
inline constexpr std::int64_t word_bits = 64;

// How much of the base and of its sum goes into a row of a result.
struct Factors {
  float base, sum;
};

// A draw of binary units from their fields, block by block, as bits. Uniforms are those of the elements of a table
// rows × width, in order.
struct LogisticDraw {
  std::uint64_t key;
  std::int64_t width, first_column;  // multiples of 4 and of block_columns
  std::uint64_t* bits;               // rows × words
  std::int64_t words;
  float* counts;  // block_columns numbers, aligned: how often each unit was drawn to be on is added
};

// Sums of picked rows of a column block of a matrix (column_blocks.h), one for each row of the result:
//   out_r = start_r + factor_r.base · base + factor_r.sum · Σ_{k of bits_r} block_k
struct RowSums {
  const std::uint64_t* bits;  // rows of the result × words
  std::int64_t words;
  int group;                  // 1: rows are picked one by one; 4, 8: by so many bits from a table of all their sums
  const float* block;         // block_rows × block_columns, aligned to a cache line
  std::int64_t block_rows;    // a multiple of the group
  const float* base;          // block_columns numbers, aligned
  const Factors* factors;     // for each row of the result; null: all 1
  const float* start;         // null: nothing
  std::int64_t start_stride;  // 0: the same row for all
  float* out;                 // null: not wanted
  std::int64_t out_stride, columns;  // columns ≤ block_columns are written
  const LogisticDraw* draw;          // null: none
  float* partial;                    // room for chunk_rows × block_columns numbers, aligned
  float* table;                      // room for table_rows(group) × block_columns numbers, aligned
};
inline constexpr std::int64_t chunk_rows = 2048;
constexpr std::int64_t table_rows(int group) { return group == 1 ? 0 : word_bits / group << group; }

struct VectorLoops {
  int vector_bits;
  // Draws of Philox blocks first_block … of a stream, four a block, in order: as they are, and as uniforms in [0, 1).
  // `blocks` is a multiple of 16, first_block too, and no multiple of 2^32 lies between.
  void (*fill_bits)(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, std::uint32_t* bits);
  void (*fill_uniform)(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, float* u);
  // Bits of a row of n numbers, ⌈n / 64⌉ words; adds the row to `counts`. False if a number is neither 0 nor 1.
  bool (*pack_bits)(const float* row, std::int64_t n, std::uint64_t* words, float* counts);
  // Numbers 0 and 1 of the bits of a row of n.
  void (*unpack_bits)(const std::uint64_t* bits, std::int64_t n, float* row);
  // Turns 16 × 16 numbers round: columns of `from` become rows of `to`, both with so many numbers a line.
  void (*turn_tile)(const float* from, std::int64_t from_line, float* to, std::int64_t to_line);
  // Rows begin … end of the result.
  void (*sum_rows)(const RowSums& sums, std::int64_t begin, std::int64_t end);
  // The last part of it, for sums of block rows that are in `partial` already.
  void (*finish_rows)(const RowSums& sums, std::int64_t first, std::int64_t rows);
};

[[nodiscard]] const VectorLoops& vector_loops();
// Every set this processor can run, the best last; for tests.
[[nodiscard]] const VectorLoops* const* all_vector_loops(int& count);

}  // namespace harmonium
