// The text header of an NPY file: a Python dict literal of exactly three known keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace harmonium {

struct NpyHeader {
  std::string descr;  // "<f4": byte order (< > | =), kind, bytes per item
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// `start` is where `text` begins in the file, for messages.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, std::size_t start, const std::string& where);

}  // namespace harmonium
