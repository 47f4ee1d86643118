// Templates drawn under poses (kernels/render_templates.h) by raw pointers to device memory.
//
// Two kernels, a block for each picture and a block for each part of a few pictures. The first draws all parts at a
// pixel and keeps two numbers of it, from which the second has ∂/∂a_k: a mark (where the softened maximum is taken
// from, or the number of the largest part) and a factor. So nothing of the size of B × K × P is ever stored.
//
// Sums over pixels of a picture are made in an order that the launch fixes. Those of templates go over pictures, too,
// and are made of 64-bit integers, whose sums have no order: one step is 2^−61 of the most that all pixels together
// could add, as the largest factor and intensity say, so no sum overflows, and what is rounded away is below 2^−61 of
// that for each pixel. Where that bound is not finite, the gradient of templates is NaN.
#pragma once

#include <cstdint>

#include "harmonium/kernels/cuda/elementwise.h"
#include "harmonium/kernels/output_form.h"

namespace harmonium::cuda {

struct RenderSizes {
  std::int64_t pictures;
  int parts, channels, template_size, rows, columns;
  [[nodiscard]] HARMONIUM_INLINE int pixels() const { return rows * columns; }
  [[nodiscard]] HARMONIUM_INLINE int of_part() const { return channels * template_size * template_size; }
};

// B × K × 6, B × K × L and K × L × S × S numbers.
template <class T>
struct RenderInput {
  const T *poses, *intensities, *templates;
};

// What comes of a comparison with pictures, B × P; null where nobody asks.
template <class T>
struct RenderComparison {
  const T* target;
  T *marks, *factors;         // B × P
  double* squared_error;      // B
  unsigned long long* bound;  // 1, zero before: the largest |factor · intensity|, as the bits of a double
};

template <class T>
struct RenderedGradient {
  T *poses, *intensities, *templates;
  unsigned long long* sums;  // K × L × S × S, zero before
};

// Draws, and compares where comparison.target is not null. `picture` may be null.
template <class T>
void launch_render(const RenderInput<T>& input, const RenderSizes& sizes, const OutputForm& form, T* picture,
                   const RenderComparison<T>& comparison, Stream stream);
// What each part adds, B × K × P.
template <class T>
void launch_contributions(const RenderInput<T>& input, const RenderSizes& sizes, T* out, Stream stream);
// After launch_render() with the same input and comparison.
template <class T>
void launch_render_gradient(const RenderInput<T>& input, const RenderSizes& sizes, const OutputForm& form,
                            const RenderComparison<T>& comparison, const RenderedGradient<T>& gradient, Stream stream);

}  // namespace harmonium::cuda
