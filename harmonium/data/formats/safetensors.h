// Safetensors (https://github.com/huggingface/safetensors): named tensors and text metadata, no code.
//
//   bytes 0–7  header length N, little-endian   8 … 8+N  JSON, padded with spaces to a multiple of 8
//   then the values; an entry is {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}}, offsets
//   counted from the end of the header; "__metadata__" maps text to text.
//
// The bytes are a function of the content alone, so two equal runs write equal files. Values lie in order of falling
// item size (so that all are aligned), else in the caller's order; reading gives them in the order they lie.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harmonium {

struct TensorFile {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  std::map<std::string, std::string> metadata;

  [[nodiscard]] bool contains(std::string_view name) const;
  // The tensor called `name`; throws Error listing what there is.
  [[nodiscard]] const at::Tensor& get(std::string_view name) const;
};

// Types F32, F64, I64, I32, U8 and BOOL.
[[nodiscard]] std::string encode_safetensors(const TensorFile& file);
[[nodiscard]] TensorFile parse_safetensors(std::string_view bytes, const std::string& where);

[[nodiscard]] TensorFile read_safetensors(const std::filesystem::path& path);
// Atomic: the file is there whole or not at all.
void write_safetensors(const std::filesystem::path& path, const TensorFile& file);

}  // namespace harmonium
