// One pixel of drawn templates, and what a part adds to it: the functions that the kernels of render_templates.cu
// share.
#pragma once

#include <cmath>

#include "harmonium/kernels/cuda/render_templates.h"
#include "harmonium/kernels/elementary.h"

namespace harmonium::cuda {

// Where a pixel falls in a template: its upper left tap (−1 … S − 1), and how far it is from that.
template <class T>
struct Place {
  int column, row;
  T phi, psi;
  bool inside;
};

template <class T>
__device__ inline Place<T> place_of(const T* pose, const RenderSizes& sizes, int pixel) {
  const T S = static_cast<T>(sizes.template_size);
  const T x = (static_cast<T>(pixel % sizes.columns) + T(0.5)) / static_cast<T>(sizes.columns),
          y = (static_cast<T>(pixel / sizes.columns) + T(0.5)) / static_cast<T>(sizes.rows);
  const T u = S * (pose[0] * x + pose[1] * y + pose[2]) - T(0.5),
          v = S * (pose[3] * x + pose[4] * y + pose[5]) - T(0.5);
  if (!(u >= -1 && u < S && v >= -1 && v < S)) return {0, 0, T(0), T(0), false};  // nor where it is not a number
  const T left = floor(u), above = floor(v);
  return {static_cast<int>(left), static_cast<int>(above), u - left, v - above, true};
}

// The value of a template of S × S numbers at a place, and its slopes in u and v.
template <class T>
struct Sample {
  T value, du, dv;
};

template <class T>
__device__ inline Sample<T> sample_of(const T* t, int size, const Place<T>& place) {
  const auto tap = [&](int row, int column) {
    return row >= 0 && row < size && column >= 0 && column < size ? t[row * size + column] : T(0);
  };
  const T t00 = tap(place.row, place.column), t10 = tap(place.row, place.column + 1),
          t01 = tap(place.row + 1, place.column), t11 = tap(place.row + 1, place.column + 1);
  const T upper = t00 + place.phi * (t10 - t00), lower = t01 + place.phi * (t11 - t01);
  return {upper + place.psi * (lower - upper), (1 - place.psi) * (t10 - t00) + place.psi * (t11 - t01), lower - upper};
}

// The same of all channels of part k of a picture, each by its intensity. The place must be inside.
template <class T>
__device__ inline Sample<T> part_of(const RenderInput<T>& input, const RenderSizes& sizes, std::int64_t picture, int k,
                                    const Place<T>& place) {
  const T* intensity = input.intensities + (picture * sizes.parts + k) * sizes.channels;
  const int area = sizes.template_size * sizes.template_size;
  Sample<T> sum{T(0), T(0), T(0)};
  for (int l = 0; l < sizes.channels; ++l) {
    const Sample<T> one = sample_of(input.templates + static_cast<std::int64_t>(k) * sizes.of_part() + l * area,
                                    sizes.template_size, place);
    sum.value += intensity[l] * one.value;
    sum.du += intensity[l] * one.du;
    sum.dv += intensity[l] * one.dv;
  }
  return sum;
}

__device__ inline bool softens(OutputModel model) {
  return model == OutputModel::semisoft || model == OutputModel::soft;
}

template <class T>
__device__ inline T sharpness_of(const OutputForm& form) {
  return form.model == OutputModel::soft ? T(1) : static_cast<T>(form.sharpness);
}

// x̂ of a pixel; from mark and slope share_of() has ∂x̂/∂a_k.
template <class T>
struct DrawnPixel {
  T value, mark, slope;
};

template <class T>
__device__ inline DrawnPixel<T> draw_pixel(const RenderInput<T>& input, const RenderSizes& sizes,
                                           const OutputForm& form, std::int64_t picture, int pixel) {
  const T* pose = input.poses + picture * sizes.parts * 6;
  const bool soft = softens(form.model);
  const T sharpness = sharpness_of<T>(form);
  T largest = 0, sum = 0;  // sum: of e^{β (a − largest)}, or of a
  int winner = -1;         // the part that is the largest
  bool outside = false;    // some part does not reach the pixel
  for (int k = 0; k < sizes.parts; ++k) {
    const Place<T> place = place_of(pose + k * 6, sizes, pixel);
    const T a = place.inside ? part_of(input, sizes, picture, k, place).value : T(0);
    if (!place.inside) outside = true;
    if (soft) {
      if (k == 0) {
        largest = a;
        sum = 1;
      } else if (a > largest) {
        sum = sum * elementary::exp_of_negative(sharpness * (largest - a)) + 1;
        largest = a;
      } else {
        sum += elementary::exp_of_negative(sharpness * (a - largest));
      }
    } else if (form.model == OutputModel::maximum) {
      if (place.inside && (winner < 0 || a > largest)) {
        largest = a;
        winner = k;
      }
    } else {
      sum += a;
    }
  }
  switch (form.model) {
    case OutputModel::semisoft:
    case OutputModel::soft:
      return {largest + (log(sum) - log(static_cast<T>(sizes.parts))) / sharpness, largest, 1 / sum};
    case OutputModel::maximum:
      if (outside && (winner < 0 || largest < 0)) return {T(0), T(-1), T(1)};
      return {largest, static_cast<T>(winner), T(1)};
    default:
      break;
  }
  const PixelValue<T> x = form.model == OutputModel::logistic       ? logistic_pixel(sum)
                          : form.model == OutputModel::clamped      ? clamped_pixel(sum)
                          : form.model == OutputModel::soft_clamped ? soft_clamped_pixel(sum)
                                                                    : sum_pixel(sum);
  return {x.value, T(0), x.slope};
}

// ∂/∂a_k of a pixel whose mark and factor were kept.
template <class T>
__device__ inline T share_of(const OutputForm& form, int k, T a, T mark, T factor) {
  if (softens(form.model)) return factor * elementary::exp_of_negative(sharpness_of<T>(form) * (a - mark));
  if (form.model == OutputModel::maximum) return mark == static_cast<T>(k) ? factor : T(0);
  return factor;
}

}  // namespace harmonium::cuda
