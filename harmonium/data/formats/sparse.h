// Sparse matrices as scipy.sparse.save_npz leaves them: an NPZ archive with the arrays
//
//   format  "csr", "csc" or "coo"     shape  rows, columns     data  the values that are not zero
//   indices, indptr                   csr: columns of the values, and where each row begins among them; csc: the same
//                                     with rows and columns exchanged
//   row, col                          coo: the place of every value
//
// A value for a place that has one already is added to it, as scipy does.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "harmonium/data/formats/npz.h"

namespace harmonium {

// Whether the arrays of an archive are one sparse matrix, perhaps with others (labels) beside it.
[[nodiscard]] bool is_sparse_matrix(const NamedTensors& arrays);
// That matrix, rows × columns, as dense float32. Throws Error where its parts contradict each other, and where it is so
// empty that a small file would ask for much memory.
[[nodiscard]] at::Tensor dense_matrix(const NamedTensors& arrays, const std::string& where);

}  // namespace harmonium
