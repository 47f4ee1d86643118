// MATLAB files of version 5 (what `save` writes with -v6 and -v7), after "MAT-File Format", MathWorks 2023:
//
//   bytes 0–123  text   124–125  version 0x0100   126–127  "IM" little-endian or "MI" big-endian
//   then elements: 4 bytes type, 4 bytes size, data. At the top they are matrices, or matrices packed by zlib; inside
//   a matrix follow flags, sizes, name and values, column by column. Sparse matrices store row numbers and column
//   starts.
//
// libmatio reads more kinds, but believes the sizes it is told (a file of 500 bytes makes it allocate gigabytes), so
// the real numeric and sparse matrices that a data set can be are read here, those that are fields of a single struct,
// and cells of real matrices with the same number of columns: sequences, whose rows are frames. Others are listed and
// passed over.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harmonium {

struct MatVariable {
  std::string name;  // of a field: "struct.field"
  std::string kind;  // "double", "sparse", "cell", …; "229 sequences"
  std::vector<std::int64_t> shape;
  bool is_readable = false;  // a real numeric or sparse matrix of two dimensions, or a cell of sequences
  // Of a cell of sequences: rows of each, 1 or more. `shape` is then that of all, one below the other.
  std::vector<std::int64_t> lengths = {};
  std::size_t offset = 0;  // of its element in the file, or of the struct's that it is a field of
  std::optional<std::size_t> field;
};

[[nodiscard]] bool is_mat(std::string_view bytes);
[[nodiscard]] std::vector<MatVariable> list_mat(std::string_view bytes, const std::string& where);
// A variable that list_mat called readable, rows × columns, in the type of its class; sparse ones as dense float32;
// sequences one below the other, as bytes where all are, else as float64.
[[nodiscard]] at::Tensor read_mat_variable(std::string_view bytes, const MatVariable& variable,
                                           const std::string& where);

}  // namespace harmonium
