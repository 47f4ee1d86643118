// A table of states as numbers and, where it is binary, as bits and as a code; each is made when it is first asked for.
// Products want bits or the code, draws make bits, and everybody else wants numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "harmonium/kernels/binary_code.h"

namespace harmonium {

class CodedTable {
 public:
  CodedTable() = default;
  // The tensor must not be written to while this is in use. Implicit: any table may be passed where one is wanted.
  CodedTable(at::Tensor table) : table_(std::move(table)) {}  // NOLINT(google-explicit-constructor)
  explicit CodedTable(BinaryTable bits) : bits_(std::make_shared<const BinaryTable>(std::move(bits))), tried_(true) {}

  [[nodiscard]] bool defined() const { return table_.defined() || bits_ != nullptr; }
  // Refused where there is no table.
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t columns() const;
  [[nodiscard]] const at::Tensor& table() const;
  // Null if the table is not binary.
  [[nodiscard]] const BinaryTable* bits() const;
  [[nodiscard]] const BinaryCode* code() const;
  // Means of the columns.
  [[nodiscard]] at::Tensor column_means() const;
  // Whether bits are here, or could be made.
  [[nodiscard]] bool codable() const;

 private:
  mutable at::Tensor table_;
  mutable std::shared_ptr<const BinaryTable> bits_;
  mutable std::shared_ptr<const BinaryCode> code_;
  mutable bool tried_ = false;
};

}  // namespace harmonium
