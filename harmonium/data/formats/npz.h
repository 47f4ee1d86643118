// NPZ, numpy's archive of arrays: a ZIP file whose members are NAME.npy.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harmonium {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

[[nodiscard]] bool is_zip(std::string_view bytes);
// All arrays in the order of the archive, named without ".npy". What they unpack to is bounded in total.
[[nodiscard]] NamedTensors parse_npz(std::string_view bytes, const std::string& where);
[[nodiscard]] NamedTensors read_npz(const std::filesystem::path& path);

}  // namespace harmonium
