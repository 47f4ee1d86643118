// A matrix seen as blocks of block_columns columns, copied out one at a time: rows of a copy are aligned and lie one
// after another, so that a block stays in cache while its rows are picked.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

class ColumnBlocks {
 public:
  // float32, any strides; the matrix must outlive this.
  explicit ColumnBlocks(const at::Tensor& matrix);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t columns_of(std::int64_t block) const;
  // Writes rows × block_columns numbers, with 0 in columns beyond the last of the matrix. Rows whose bit is set in
  // `negated` (if it is not null) change their sign.
  void copy(std::int64_t block, const std::uint64_t* negated, float* to) const;

 private:
  at::Tensor source_;
  bool turned_;  // columns of the matrix are lines of the source
  std::int64_t rows_, columns_, count_, line_;
  const float* from_;
};

}  // namespace harmonium
