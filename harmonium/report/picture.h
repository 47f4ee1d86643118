// Pictures for the report: grids of small images, made of bytes, written as PNG.
//
// tile_images() turns rows of a table (weights, particles, data, probabilities) into one picture: cells in reading
// order, each enlarged by a whole factor (nearest neighbour, so that one value stays one sharp square), separated by
// gaps.
//
//   gray       value 0 is black, 1 is white (or other ends, for real values), values outside are clamped: data,
//              particles, probabilities
//   diverging  −s is blue, 0 is white, +s is red, where s = max |value| of that image alone: weights. Blue against red
//              over white is told apart with every common colour-vision deficiency, and both ends are equally dark.
//
//   colours    three values for each pixel, from 0 to 1: those of red, then all of green, then all of blue
//
// A value that is not finite is painted like the gap, so that it is seen as missing and not as black or white.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct Picture {
  std::int64_t height = 0, width = 0;
  int channels = 3;                  // 1 (gray) or 3 (RGB)
  std::vector<std::uint8_t> pixels;  // height × width × channels, rows from the top
};

enum class Colouring { gray, diverging, colours };

struct TileOptions {
  Colouring colouring = Colouring::gray;
  std::int64_t columns = 0;     // images per row; 0: the grid about half again as wide as high
  std::int64_t zoom = 0;        // pixels per value; 0: the least that makes an image's longer side 48 pixels
  std::int64_t gap = 2;         // pixels between images and around the grid
  double scale = 0;             // diverging: the magnitude of full colour; 0: each image's own largest
  double black = 0, white = 1;  // gray: values of both ends (families/machine_file.h, shown_range)
};

// images: N × n with n <= height * width of `shape`; cells beyond n are painted like the gap.
[[nodiscard]] Picture tile_images(const at::Tensor& images, ImageShape shape, const TileOptions& options = {});

// A shape for data that are not pictures: the most nearly square exact factorization where one has an aspect of at most
// two, otherwise the smallest near-square that holds all columns.
[[nodiscard]] ImageShape near_square_shape(std::int64_t columns);

// Rows above, what the net makes of them below, in strips of `columns`; `range`: values that are black and white.
[[nodiscard]] Picture reconstruction_picture(const at::Tensor& rows, const at::Tensor& rebuilt, ImageShape shape,
                                             std::pair<double, double> range = {0, 1}, std::int64_t columns = 20);

void write_png(const std::filesystem::path& path, const Picture& picture);
// "data:image/png;base64,…", for an <img> that needs no file.
[[nodiscard]] std::string to_data_uri(const Picture& picture);

}  // namespace harmonium
