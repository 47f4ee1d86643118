// A matrix cut into blocks of block_columns columns, each stored as a table of its own: rows of a block are aligned and
// lie one after another, so that a block stays in the second-level cache while rows are picked from it.
#pragma once

#include <ATen/ATen.h>

namespace harmonium {

class PackedMatrix {
 public:
  // float32, any strides. Rows whose bit is set in `negated` (if it is not null) change their sign.
  explicit PackedMatrix(const at::Tensor& matrix, const std::uint64_t* negated = nullptr);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  // Rows × block_columns; columns beyond the last of the matrix are 0.
  [[nodiscard]] const float* block(std::int64_t index) const;
  [[nodiscard]] std::int64_t columns_of(std::int64_t block) const;

 private:
  std::int64_t rows_, columns_, blocks_;
  at::Tensor storage_;
};

}  // namespace harmonium
