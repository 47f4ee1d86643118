#include "harmonium/kernels/packed_matrix.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/vector_loops.h"

namespace harmonium {

namespace {

struct Signs {
  const std::uint64_t* negated;
  [[nodiscard]] float operator()(std::int64_t row) const {
    return negated != nullptr && (negated[row / word_bits] >> row % word_bits & 1) != 0 ? -1.0F : 1.0F;
  }
};

// Rows of the block lie in lines of the source.
void copy_lines(const float* from, std::int64_t line, std::int64_t rows, std::int64_t columns, Signs sign, float* to) {
  for (std::int64_t row = 0; row < rows; ++row, from += line, to += block_columns) {
    const float factor = sign(row);
    for (std::int64_t column = 0; column < columns; ++column) to[column] = factor * from[column];
    std::fill(to + columns, to + block_columns, 0.0F);
  }
}

// Columns of the block lie in lines of the source: turned tile by tile, so that lines of both sides stay in cache.
void turn_lines(const float* from, std::int64_t line, std::int64_t rows, std::int64_t columns, Signs sign, float* to) {
  constexpr std::int64_t tile = 16;
  for (std::int64_t first = 0; first < rows; first += tile) {
    const std::int64_t count = std::min(tile, rows - first);
    float factor[tile];
    for (std::int64_t i = 0; i < count; ++i) factor[i] = sign(first + i);
    float* target = to + first * block_columns;
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t i = 0; i < count; ++i)
        target[i * block_columns + column] = factor[i] * from[column * line + first + i];
    for (std::int64_t i = 0; i < count; ++i)
      std::fill(target + i * block_columns + columns, target + (i + 1) * block_columns, 0.0F);
  }
}

}  // namespace

PackedMatrix::PackedMatrix(const at::Tensor& matrix, const std::uint64_t* negated)
    : rows_(matrix.size(0)), columns_(matrix.size(1)), blocks_((columns_ + block_columns - 1) / block_columns) {
  require(matrix.scalar_type() == at::kFloat, "a packed matrix is float32, not {}", at::toString(matrix.scalar_type()));
  storage_ = at::empty({blocks_ * rows_ * block_columns}, at::kFloat);
  const bool turned = matrix.stride(1) != 1 && matrix.stride(0) == 1;
  const at::Tensor source = turned || matrix.stride(1) == 1 ? matrix : matrix.contiguous();
  const float* from = source.data_ptr<float>();
  float* to = storage_.data_ptr<float>();
  const std::int64_t line = source.stride(turned ? 1 : 0);
  at::parallel_for(0, blocks_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      const std::int64_t first = index * block_columns;
      if (turned)
        turn_lines(from + first * line, line, rows_, columns_of(index), Signs{negated}, to + first * rows_);
      else
        copy_lines(from + first, line, rows_, columns_of(index), Signs{negated}, to + first * rows_);
    }
  });
}

const float* PackedMatrix::block(std::int64_t index) const {
  return storage_.data_ptr<float>() + index * rows_ * block_columns;
}

std::int64_t PackedMatrix::columns_of(std::int64_t block) const {
  return std::min(block_columns, columns_ - block * block_columns);
}

}  // namespace harmonium
