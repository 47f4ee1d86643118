// Outlines of a rectangle and a triangle in one picture: an unlimited supply of pictures with sharp, long-range
// structure, after the artificial data of Tieleman, "Optimizing neural networks that generate images", PhD thesis,
// Toronto 2014, §3.3.5.
//
// The thesis says only that the set "was created by combining the outlines of rectangles and triangles in an image".
// Our reading, which makes numbers on it comparable with each other but not with the thesis:
//   - n×n binary pixels, n = 28, background 0, one outline of each kind, one pixel wide, drawn over each other (union);
//   - the rectangle is parallel to the axes; its two rows are uniform among pairs at least 2 apart (so that it has an
//     inside), independently its two columns;
//   - the triangle's three corners are uniform over the pixels, drawn anew until twice its area is at least n (so that
//   it
//     is not a sliver); its sides are Bresenham lines.
// The entropy is not known in closed form.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct RectanglesAndTrianglesOptions {
  std::int64_t side = 28;  // 4 … 1024
};

// Independent draws; row r depends on the key and r alone.
[[nodiscard]] Dataset rectangles_and_triangles(std::int64_t rows, const Key& key,
                                               const RectanglesAndTrianglesOptions& options = {});

}  // namespace harmonium
