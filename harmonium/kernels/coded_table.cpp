#include "harmonium/kernels/coded_table.h"

#include <utility>

#include "harmonium/core/error.h"

namespace harmonium {

std::int64_t CodedTable::rows() const {
  if (code_ != nullptr) return code_->deviating.rows;
  require(table_.defined() && table_.dim() == 2, "states of a layer are missing, or no table of rows and columns");
  return table_.size(0);
}

std::int64_t CodedTable::columns() const {
  if (code_ != nullptr) return code_->deviating.columns;
  require(table_.defined() && table_.dim() == 2, "states of a layer are missing, or no table of rows and columns");
  return table_.size(1);
}

const at::Tensor& CodedTable::table() const {
  if (!table_.defined() && code_ != nullptr) table_ = code_->table();
  return table_;
}

const BinaryCode* CodedTable::code() const {
  if (!std::exchange(tried_, true))
    if (auto made = BinaryCode::of(table_)) code_ = std::make_shared<const BinaryCode>(std::move(*made));
  return code_.get();
}

at::Tensor CodedTable::column_means() const {
  if (code_ == nullptr) return table_.mean(0);
  return at::tensor(code_->ones, at::kDouble).div_(static_cast<double>(rows())).to(at::kFloat);
}

bool CodedTable::codable() const { return code_ != nullptr || (!tried_ && BinaryCode::possible(table_)); }

}  // namespace harmonium
