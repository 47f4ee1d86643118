#include "harmonium/kernels/coded_table.h"

#include <ATen/ATen.h>

#include <utility>

#include "harmonium/core/error.h"

namespace harmonium {

std::int64_t CodedTable::rows() const {
  if (bits_ != nullptr) return bits_->bits.rows;
  require(table_.defined() && table_.dim() == 2, "states of a layer are missing, or no table of rows and columns");
  return table_.size(0);
}

std::int64_t CodedTable::columns() const {
  if (bits_ != nullptr) return bits_->bits.columns;
  require(table_.defined() && table_.dim() == 2, "states of a layer are missing, or no table of rows and columns");
  return table_.size(1);
}

const at::Tensor& CodedTable::table() const {
  if (!table_.defined() && bits_ != nullptr) table_ = bits_->table();
  return table_;
}

const BinaryTable* CodedTable::bits() const {
  if (!std::exchange(tried_, true))
    if (auto made = BinaryTable::of(table_)) bits_ = std::make_shared<const BinaryTable>(std::move(*made));
  return bits_.get();
}

const BinaryCode* CodedTable::code() const {
  if (code_ == nullptr && bits() != nullptr) code_ = std::make_shared<const BinaryCode>(*bits_);
  return code_.get();
}

at::Tensor CodedTable::column_means() const {
  if (bits_ == nullptr) return table_.mean(0);
  return at::tensor(bits_->ones, at::kDouble).div_(static_cast<double>(rows())).to(at::kFloat);
}

bool CodedTable::codable() const { return bits_ != nullptr || (!tried_ && BinaryTable::possible(table_)); }

}  // namespace harmonium
