// What FANG asks of a device that LibTorch would do in many launches, or one by one: sums of products made moments, and
// inverses of small triangles.
//
// No LibTorch here: pointers are of the device, and everything happens on the given stream.
#pragma once

#include <cstdint>

#include "harmonium/kernels/cuda/elementwise.h"

namespace harmonium::cuda {

// Σ over rows of products of units (0 or 1, or their means), with Σ of the units themselves in column `count`, becomes
// E[x] and E[x xᵀ] (count × count), whose diagonal is E[x]. Rows of `sums` are `stride` numbers apart.
void launch_unit_moments(const float* sums, std::int64_t stride, std::int64_t count, float share, float* mean,
                         float* second_moment, Stream stream);

// Square blocks on the diagonal of a matrix that is `stride` wide, `count` of them with `size` rows each: of a lower
// triangle to its inverse. Nothing else is written to.
inline constexpr int largest_triangle = 96;
void launch_inverse_triangles(const float* from, std::int64_t stride, int size, int count, float* to, Stream stream);

}  // namespace harmonium::cuda
