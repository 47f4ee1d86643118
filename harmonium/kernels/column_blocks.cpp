#include "harmonium/kernels/column_blocks.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"
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
HARMONIUM_CLONES void copy_lines(const float* from, std::int64_t line, std::int64_t rows, std::int64_t columns,
                                 Signs sign, float* to) {
  for (std::int64_t row = 0; row < rows; ++row, from += line, to += block_columns) {
    const float factor = sign(row);
    for (std::int64_t column = 0; column < columns; ++column) to[column] = factor * from[column];
    std::fill(to + columns, to + block_columns, 0.0F);
  }
}

// Columns of the block lie in lines of the source: turned tile by tile.
void turn_lines(const float* from, std::int64_t line, std::int64_t rows, std::int64_t columns, Signs sign, float* to) {
  const VectorLoops& loops = vector_loops();
  const std::int64_t whole_rows = rows / 16 * 16, whole_columns = columns / 16 * 16;
  for (std::int64_t row = 0; row < whole_rows; row += 16)
    for (std::int64_t column = 0; column < whole_columns; column += 16)
      loops.turn_tile(from + column * line + row, line, to + row * block_columns + column, block_columns);
  // What is left at the right and below.
  for (std::int64_t row = 0; row < rows; ++row) {
    float* target = to + row * block_columns;
    for (std::int64_t column = row < whole_rows ? whole_columns : 0; column < columns; ++column)
      target[column] = from[column * line + row];
    std::fill(target + columns, target + block_columns, 0.0F);
    if (sign(row) < 0)
      for (std::int64_t column = 0; column < columns; ++column) target[column] = -target[column];
  }
}

}  // namespace

ColumnBlocks::ColumnBlocks(const at::Tensor& matrix)
    : turned_(matrix.stride(1) != 1 && matrix.stride(0) == 1),
      rows_(matrix.size(0)),
      columns_(matrix.size(1)),
      count_((columns_ + block_columns - 1) / block_columns) {
  require(matrix.scalar_type() == at::kFloat, "column blocks are float32, not {}", at::toString(matrix.scalar_type()));
  source_ = turned_ || matrix.stride(1) == 1 ? matrix : matrix.contiguous();
  line_ = source_.stride(turned_ ? 1 : 0);
  from_ = source_.data_ptr<float>();
}

std::int64_t ColumnBlocks::columns_of(std::int64_t block) const {
  return std::min(block_columns, columns_ - block * block_columns);
}

void ColumnBlocks::copy(std::int64_t block, const std::uint64_t* negated, float* to) const {
  const std::int64_t first = block * block_columns;
  if (turned_)
    turn_lines(from_ + first * line_, line_, rows_, columns_of(block), Signs{negated}, to);
  else
    copy_lines(from_ + first, line_, rows_, columns_of(block), Signs{negated}, to);
}

}  // namespace harmonium
