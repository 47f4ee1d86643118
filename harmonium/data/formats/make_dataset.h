// From an array of numbers to a Dataset: what the values mean, where the labels are, whether the columns are a picture.
//
// Values are kept as bytes where they are whole numbers of 0 … 255, else as float32. What they are divided by:
//
//   all 0 or 1                                     1
//   bytes of a stack of pictures (images × height × width, PNG, IDX, @shape)   255
//   whole numbers of 0 … 255, some above 127       255   (gray values, whatever their type)
//   other whole numbers                            1, and Dataset::whole_numbers: counts, categories, grades or few
//                                                  levels of gray, which nobody can tell apart; training asks
//   all else                                       1     (probabilities, or reals for gaussian units)
//
// 127: gray pictures nearly always use the upper half of their range, while grades, categories, ages and counts of rare
// things nearly never do. Reading::scale decides otherwise; Dataset::remarks say what was done. NaN marks a missing
// value.
//
// Rows are frames of sequences where @sequences says so: Dataset::lengths.
//
// A table whose width is a perfect square of at least 16 is taken for square pictures, which only affects how it is
// drawn.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/data/reading.h"

namespace harmonium {

// `where` names the file in messages; `header` has names of columns, or nothing. Infinities are errors that name row
// and column, counted from 1.
[[nodiscard]] Dataset make_dataset(const at::Tensor& array, const std::string& where, const Reading& reading = {},
                                   const std::vector<std::string>& header = {});

// Gives the data their labels, numbered from 0, and remarks where the numbers in the file begin elsewhere. `labels` has
// a whole number a row.
void set_labels(Dataset& data, const at::Tensor& labels, const std::string& where, const Reading& reading);

// "first", "last", a number or a name in the header as a column number from 0; nothing for "none" and for names that no
// column has. Throws Error for a number that no column has.
[[nodiscard]] std::optional<std::int64_t> find_label_column(const Reading& reading, std::int64_t columns,
                                                            const std::vector<std::string>& header,
                                                            const std::string& where);

}  // namespace harmonium
