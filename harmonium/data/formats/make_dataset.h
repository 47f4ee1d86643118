// From an array of numbers to a Dataset: what the values mean, and whether the columns are a picture.
//
//   stored values                       values     scale
//   all 0 or 1                          uint8      1
//   bytes (uint8 arrays, pictures)      uint8      1/255
//   other integers of 0 … 16            uint8      1/16    (a guess: the digits of 4-bit gray)
//   other integers of 0 … 255           uint8      1/255   (a guess: gray written as text or as larger integers)
//   all else                            float32    1       (probabilities, or reals for gaussian units)
//
// Arrays of three dimensions are images × height × width. A table whose width is a perfect square of at least 16 is
// taken for square pictures: a guess as well, which only affects how it is drawn.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "harmonium/data/dataset.h"

namespace harmonium {

enum class ValueRange {
  bytes,  // the file's own type says that 255 is white
  guess,  // only the largest value tells
};

// `where` names the file in messages. NaN and infinities are errors that name row and column, counted from 1.
[[nodiscard]] Dataset make_dataset(const at::Tensor& array, ValueRange range, const std::string& where);
// For arrays that come with a type: bytes for uint8, else a guess.
[[nodiscard]] Dataset make_dataset(const at::Tensor& array, const std::string& where);

}  // namespace harmonium
