// IDX, the format of the original MNIST files (http://yann.lecun.com/exdb/mnist):
//
//   bytes 0–1  zero                     byte 2  type: 08 uint8, 09 int8, 0B int16, 0C int32, 0D float32, 0E float64
//   byte 3     number of dimensions D   then D sizes of 4 bytes, then the values; everything big-endian, row-major.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace harmonium {

[[nodiscard]] bool is_idx(std::string_view bytes);
[[nodiscard]] at::Tensor parse_idx(std::string_view bytes, const std::string& where);

// The labels beside a set of images: a 1-D IDX file of an integer type, gzipped or not, as int64.
[[nodiscard]] at::Tensor read_idx_labels(const std::filesystem::path& path);

}  // namespace harmonium
