// PNG pictures (https://www.w3.org/TR/png) as bytes of gray, through libpng.
//
// Reading keeps the stored values (no gamma is applied): gray of 1 to 8 bits is spread over 0 … 255, 16 bits are
// rounded to 8, palettes are looked up, transparency is dropped, colour becomes luma by ITU-R BT.601
// (0.299 R + 0.587 G + 0.114 B).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace harmonium {

struct GrayImage {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  // row-major
};

[[nodiscard]] bool is_png(std::string_view bytes);
[[nodiscard]] GrayImage decode_png(std::string_view bytes, const std::string& where);
// `pixels` is height × width × channels, row-major; one channel is gray, three are red, green, blue.
[[nodiscard]] std::string encode_png(const std::uint8_t* pixels, std::int64_t height, std::int64_t width,
                                     std::int64_t channels);

[[nodiscard]] GrayImage read_png(const std::filesystem::path& path);
// Atomic: the file is there whole or not at all.
void write_png(const std::filesystem::path& path, const std::uint8_t* pixels, std::int64_t height, std::int64_t width,
               std::int64_t channels);

// All PNG pictures of a folder in the order of their names, images × height × width, uint8. Files that are neither
// named .png nor PNG by content are passed over; pictures of different sizes are an error.
[[nodiscard]] at::Tensor read_png_folder(const std::filesystem::path& folder);

}  // namespace harmonium
