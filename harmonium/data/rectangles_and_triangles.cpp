#include "harmonium/data/rectangles_and_triangles.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "harmonium/core/error.h"
#include "harmonium/data/draws.h"

namespace harmonium {

namespace {

struct Point {
  std::int64_t row, column;
};

class Picture {
 public:
  Picture(std::uint8_t* pixels, std::int64_t side) : pixels_(pixels), side_(side) {}

  // Bresenham's line, both ends included.
  void draw_line(Point from, Point to) {
    const std::int64_t height = std::abs(to.row - from.row), width = std::abs(to.column - from.column);
    const std::int64_t down = to.row > from.row ? 1 : -1, right = to.column > from.column ? 1 : -1;
    std::int64_t error = width - height;
    for (;;) {
      pixels_[from.row * side_ + from.column] = 1;
      if (from.row == to.row && from.column == to.column) return;
      const std::int64_t doubled = 2 * error;
      if (doubled > -height) error -= height, from.column += right;
      if (doubled < width) error += width, from.row += down;
    }
  }

  template <std::size_t Corners>
  void draw_outline(const std::array<Point, Corners>& corners) {
    for (std::size_t i = 0; i < Corners; ++i) draw_line(corners[i], corners[(i + 1) % Corners]);
  }

 private:
  std::uint8_t* pixels_;
  std::int64_t side_;
};

std::pair<std::int64_t, std::int64_t> draw_interval(Draws& draws, std::int64_t side) {
  for (;;) {
    const std::int64_t a = draws.below(side), b = draws.below(side);
    if (b - a >= 2) return {a, b};
  }
}

std::array<Point, 4> draw_rectangle(Draws& draws, std::int64_t side) {
  const auto [top, bottom] = draw_interval(draws, side);
  const auto [left, right] = draw_interval(draws, side);
  return {Point{top, left}, Point{top, right}, Point{bottom, right}, Point{bottom, left}};
}

std::array<Point, 3> draw_triangle(Draws& draws, std::int64_t side) {
  for (;;) {
    std::array<Point, 3> corners;
    for (Point& corner : corners) {
      corner.row = draws.below(side);
      corner.column = draws.below(side);
    }
    const auto& [a, b, c] = corners;
    const std::int64_t doubled_area =
        std::abs((b.row - a.row) * (c.column - a.column) - (c.row - a.row) * (b.column - a.column));
    if (doubled_area >= side) return corners;
  }
}

}  // namespace

Dataset rectangles_and_triangles(std::int64_t rows, const Key& key, const RectanglesAndTrianglesOptions& options) {
  const std::int64_t side = options.side;
  require(side >= 4 && side <= 1024, "rectangles_and_triangles: the side must be 4 to 1024 pixels, not {}", side);
  require(rows >= 0, "rectangles_and_triangles: cannot draw {} rows", rows);
  Dataset data{.name = "rectangles_and_triangles",
               .values = at::zeros({rows, side * side}, at::kByte),
               .image = ImageShape{side, side}};
  auto* pixels = data.values.data_ptr<std::uint8_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    Picture picture(pixels + row * side * side, side);
    Draws draws(key.fold_in(static_cast<std::uint64_t>(row)));
    picture.draw_outline(draw_rectangle(draws, side));
    picture.draw_outline(draw_triangle(draws, side));
  }
  return data;
}

}  // namespace harmonium
