// A table of 0s and 1s as bits, and coded by deviations: the majority value of every column, and the places that differ
// from it.
//
// Layers of trained machines look dense (hidden units are on in half of all rows), yet most units of most rows are in
// their usual state: on MNIST 12–15 % deviate. A product with such a table is the product with the majority row, the
// same for all rows, and a few rows of the other matrix added or subtracted.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace harmonium {

// Rows of bits, each in whole words of 64; bits beyond the last column are 0.
struct BitTable {
  BitTable(std::int64_t rows, std::int64_t columns);
  [[nodiscard]] std::uint64_t* row(std::int64_t index) { return first_ + index * words; }
  [[nodiscard]] const std::uint64_t* row(std::int64_t index) const { return first_ + index * words; }
  [[nodiscard]] bool at(std::int64_t r, std::int64_t column) const {
    return (row(r)[column / 64] >> column % 64 & 1) != 0;
  }
  [[nodiscard]] BitTable transposed() const;

  std::int64_t rows, columns, words;
  at::Tensor storage;  // rows × words, int64

 private:
  std::uint64_t* first_;  // of the storage, which copies share; asking the tensor for every row takes time
};

struct BinaryTable {
  // Whether a table is of the kind that can be had as bits, whatever its numbers: on the CPU (a device multiplies
  // faster than it picks), float32, contiguous, not empty.
  [[nodiscard]] static bool possible(const at::Tensor& table);
  // Nothing if it is not, or if a number is neither 0 nor 1.
  [[nodiscard]] static std::optional<BinaryTable> of(const at::Tensor& table);
  [[nodiscard]] at::Tensor table() const;

  BitTable bits;
  std::vector<std::int64_t> ones;  // of every column
};

struct BinaryCode {
  explicit BinaryCode(const BinaryTable& table);

  BitTable deviating;           // bits that differ from the majority
  BitTable majority;            // one row
  std::int64_t deviations = 0;  // number of bits in `deviating`
  std::int64_t fours = 0;       // number of fours of neighbouring columns, by row, in which one at least deviates
};

}  // namespace harmonium
