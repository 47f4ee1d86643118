// NPY, numpy's array format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html):
//
//   bytes 0–5  "\x93NUMPY"   6–7  version 1.0, 2.0 or 3.0   then the header's length (2 bytes; 4 from version 2.0)
//   then a Python dict literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, then the values.
//
// Read: bool, int8/16/32/64, uint8/16/32 and float16/32/64 of either byte order and memory order. Unsigned types that
// tensors lack widen to the next signed one. A single text ('|S3') is read as its bytes. Written: version 1.0,
// little-endian, C order.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace harmonium {

[[nodiscard]] bool is_npy(std::string_view bytes);
[[nodiscard]] at::Tensor parse_npy(std::string_view bytes, const std::string& where);
[[nodiscard]] std::string encode_npy(const at::Tensor& tensor);

// A whole file, gzipped or not.
[[nodiscard]] at::Tensor read_npy(const std::filesystem::path& path);
// Atomic: the file is there whole or not at all.
void write_npy(const std::filesystem::path& path, const at::Tensor& tensor);

}  // namespace harmonium
