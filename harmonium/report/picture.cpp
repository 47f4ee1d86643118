#include "harmonium/report/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/png.h"

namespace harmonium {

namespace {

using Colour = std::array<std::uint8_t, 3>;

// Mid-gray stands out from black strokes and white ground alike, and on a light page as on a dark one.
constexpr Colour gray_gap = {128, 128, 128}, diverging_gap = {196, 196, 196};
constexpr std::int64_t readable_side = 48;
// PNG itself allows more, but a picture beyond this cannot be looked at and would only fill the memory.
constexpr std::int64_t most_pixels = std::int64_t{1} << 28;

Colour gray_colour(double value) {
  const auto level = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  return {level, level, level};
}

// `value` in [−1, 1]. The halfway colours keep the lightness falling evenly from white to both ends.
Colour diverging_colour(double value) {
  constexpr std::array<std::array<double, 3>, 3> negative = {{{255, 255, 255}, {108, 172, 214}, {8, 72, 140}}};
  constexpr std::array<std::array<double, 3>, 3> positive = {{{255, 255, 255}, {240, 142, 104}, {160, 16, 36}}};
  const auto& ramp = value < 0 ? negative : positive;
  const double position = 2 * std::min(std::abs(value), 1.0);
  const std::size_t left = position < 1 ? 0 : 1;
  Colour colour{};
  for (std::size_t channel = 0; channel < colour.size(); ++channel)
    colour[channel] = static_cast<std::uint8_t>(
        std::lround(std::lerp(ramp[left][channel], ramp[left + 1][channel], position - static_cast<double>(left))));
  return colour;
}

double largest_finite_magnitude(const float* values, std::int64_t count) {
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (std::isfinite(values[i])) largest = std::max(largest, std::abs(static_cast<double>(values[i])));
  return largest;
}

class Canvas {
 public:
  Canvas(std::int64_t height, std::int64_t width, int channels, const Colour& background) {
    picture_ = {height, width, channels, {}};
    picture_.pixels.resize(static_cast<std::size_t>(height * width * channels));
    fill(0, 0, height, width, background);
  }

  void fill(std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width, const Colour& colour) {
    for (std::int64_t row = top; row < top + height; ++row)
      for (std::int64_t column = left; column < left + width; ++column)
        std::copy_n(colour.begin(), picture_.channels,
                    picture_.pixels.begin() + (row * picture_.width + column) * picture_.channels);
  }

  Picture take() { return std::move(picture_); }

 private:
  Picture picture_;
};

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t start = 0; start < bytes.size(); start += 3) {
    const std::string_view group = bytes.substr(start, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < group.size() ? static_cast<std::uint8_t>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= group.size() ? digits[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::string encode(const Picture& picture) {
  const auto expected = picture.height * picture.width * picture.channels;
  require(picture.height > 0 && picture.width > 0 && static_cast<std::int64_t>(picture.pixels.size()) == expected,
          "picture: {} bytes do not make {} × {} pixels of {} channels", picture.pixels.size(), picture.height,
          picture.width, picture.channels);
  return encode_png(picture.pixels.data(), picture.height, picture.width, picture.channels);
}

}  // namespace

Picture tile_images(const at::Tensor& images, ImageShape shape, const TileOptions& options) {
  require(images.defined() && images.dim() == 2 && images.size(0) > 0 && images.size(1) > 0,
          "tile: images must be a non-empty table with one image per row");
  const bool coloured = options.colouring == Colouring::colours;
  require(
      shape.height > 0 && shape.width > 0 &&
          (coloured ? images.size(1) == 3 * shape.height * shape.width : images.size(1) <= shape.height * shape.width),
      "tile: {} values per image do not fit into {} × {}", images.size(1), shape.height, shape.width);
  require(options.columns >= 0 && options.zoom >= 0 && options.gap >= 0,
          "tile: columns ({}), zoom ({}) and gap ({}) must not be negative", options.columns, options.zoom,
          options.gap);

  const at::Tensor table = images.detach().to(at::kCPU, at::kFloat).contiguous();
  const std::int64_t count = table.size(0), values = coloured ? table.size(1) / 3 : table.size(1), gap = options.gap;
  const std::int64_t longer = std::max(shape.height, shape.width);
  const std::int64_t zoom =
      options.zoom > 0 ? options.zoom : std::max<std::int64_t>(1, (readable_side + longer - 1) / longer);
  const std::int64_t cell_height = shape.height * zoom + gap, cell_width = shape.width * zoom + gap;
  const auto automatic = static_cast<std::int64_t>(std::ceil(std::sqrt(
      1.5 * static_cast<double>(count) * static_cast<double>(cell_height) / static_cast<double>(cell_width))));
  const std::int64_t columns = std::min(count, options.columns > 0 ? options.columns : automatic);
  const std::int64_t rows = (count + columns - 1) / columns;
  const std::int64_t height = rows * cell_height + gap, width = columns * cell_width + gap;
  require(height <= most_pixels / width,
          "tile: a picture of {} × {} pixels is too large; show fewer images or zoom less", height, width);

  require(options.black < options.white, "tile: white ({}) must lie above black ({})", options.white, options.black);
  const bool diverging = options.colouring == Colouring::diverging;
  Canvas canvas(height, width, diverging || coloured ? 3 : 1, diverging ? diverging_gap : gray_gap);
  for (std::int64_t image = 0; image < count; ++image) {
    const float* const value = table.data_ptr<float>() + image * table.size(1);
    const std::int64_t top = gap + image / columns * cell_height, left = gap + image % columns * cell_width;
    const double largest = diverging ? largest_finite_magnitude(value, values) : 1.0;
    const double scale = diverging && options.scale > 0 ? options.scale : largest > 0 ? largest : 1.0;
    const auto colour_of = [&](std::int64_t i) {
      if (coloured)
        return Colour{gray_colour(value[i])[0], gray_colour(value[values + i])[0],
                      gray_colour(value[2 * values + i])[0]};
      return diverging ? diverging_colour(value[i] / scale)
                       : gray_colour((value[i] - options.black) / (options.white - options.black));
    };
    const auto known = [&](std::int64_t i) {
      return std::isfinite(value[i]) &&
             (!coloured || (std::isfinite(value[values + i]) && std::isfinite(value[2 * values + i])));
    };
    for (std::int64_t i = 0; i < values; ++i)
      if (known(i)) canvas.fill(top + i / shape.width * zoom, left + i % shape.width * zoom, zoom, zoom, colour_of(i));
  }
  return canvas.take();
}

ImageShape near_square_shape(std::int64_t columns) {
  require(columns > 0, "near_square_shape: there must be at least one column, not {}", columns);
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(columns))));
  for (std::int64_t width = root; width * width <= 2 * columns; ++width)
    if (columns % width == 0) return {columns / width, width};
  return {(columns + root - 1) / root, root};
}

Picture reconstruction_picture(const at::Tensor& rows, const at::Tensor& rebuilt, ImageShape shape,
                               std::pair<double, double> range, std::int64_t columns) {
  std::vector<at::Tensor> strips;
  const std::int64_t width = std::min(columns, rows.size(0));
  for (std::int64_t first = 0; first + width <= rows.size(0); first += width) {
    strips.push_back(rows.narrow(0, first, width));
    strips.push_back(rebuilt.narrow(0, first, width));
  }
  return tile_images(at::cat(strips), shape, {.columns = width, .black = range.first, .white = range.second});
}

void write_png(const std::filesystem::path& path, const Picture& picture) {
  write_file_atomically(path, encode(picture));
}

std::string to_data_uri(const Picture& picture) { return "data:image/png;base64," + to_base64(encode(picture)); }

}  // namespace harmonium
