// The loops that compilers do not vectorise well by themselves, written with vector types and compiled once for every
// instruction set (vector_loops_body.h). The best one is picked when the program first asks.
#pragma once

#include <cstdint>

namespace harmonium {

inline constexpr std::int64_t block_columns = 64;  // columns of a matrix that are worked on together
inline constexpr std::int64_t word_bits = 64;

// How much of the base and of its sum goes into a row of a result.
struct Factors {
  float base, sum;
};

// Sums of picked rows of a column block of a matrix (column_blocks.h), one for each row of the result:
//   out_r = start_r + factor_r.base · base + factor_r.sum · Σ_{k of bits_r} block_k
struct RowSums {
  const std::uint64_t* bits;  // rows of the result × words
  std::int64_t words;
  const float* block;         // 64·words × block_columns, aligned to a cache line; rows no bit picks need not exist
  const float* base;          // block_columns numbers, aligned
  const Factors* factors;     // for each row of the result; null: all 1
  const float* start;         // null: nothing
  std::int64_t start_stride;  // 0: the same row for all
  float* out;
  std::int64_t out_stride, columns;  // columns ≤ block_columns are written
};

struct VectorLoops {
  int vector_bits;
  // Draws of Philox blocks first_block … of a stream, four a block, in order: as they are, and as uniforms in [0, 1).
  // `blocks` is a multiple of 16, first_block too, and no multiple of 2^32 lies between.
  void (*fill_bits)(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, std::uint32_t* bits);
  void (*fill_uniform)(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, float* u);
  // Bits of a row of n numbers, ⌈n / 64⌉ words; adds the row to `counts`. False if a number is neither 0 nor 1.
  bool (*pack_bits)(const float* row, std::int64_t n, std::uint64_t* words, float* counts);
  // Rows begin … end of the result.
  void (*sum_rows)(const RowSums& sums, std::int64_t begin, std::int64_t end);
};

[[nodiscard]] const VectorLoops& vector_loops();
// Every set this processor can run, the best last; for tests.
[[nodiscard]] const VectorLoops* const* all_vector_loops(int& count);

}  // namespace harmonium
