// An invertible linear map by which rows get mean 0 and, as far as they vary at all, covariance I.
#pragma once

#include "harmonium/data/dataset.h"

namespace harmonium {

// v = spread (x − mean) T with a symmetric T. Numbers are rounded to float32, so that a file brings back the same map.
struct Whitening {
  at::Tensor mean, matrix;  // columns, columns × columns; float64
  double spread = 1;        // standard deviation of whitened values

  [[nodiscard]] at::Tensor apply(const at::Tensor& rows) const;   // float64
  [[nodiscard]] at::Tensor undo(const at::Tensor& values) const;  // float64
  // Of the whole map, log|det|: what a log-density in the data's own units has more.
  [[nodiscard]] double log_determinant() const;
};

// `kind`: "zca" (T = covariance^(−½)), "columns" (each column by its deviation), "none" (T = I, mean 0). Directions, or
// columns, that vary by less than 10⁻⁴ of the mean variance are treated as if they had that: a direction in which
// nothing varies has no density of its own.
[[nodiscard]] Whitening whitening_of(const Dataset& data, const std::string& kind);
[[nodiscard]] Dataset whitened(Dataset data, const Whitening& by);

}  // namespace harmonium
