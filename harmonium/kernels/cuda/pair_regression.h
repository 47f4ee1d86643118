// Regressions of all products x_i y_j of two layers of indicators on x_i and y_j, in one pass (geometry/fang.cpp has
// them as expressions of whole matrices, and what they mean).
#pragma once

#include "harmonium/kernels/cuda/elementwise.h"

namespace harmonium::cuda {

template <class T>
struct PairRegression {
  std::int64_t rows, columns;
  const T *row_mean, *column_mean;  // p, q
  const T* product_mean;            // r: E[x_i y_j], `stride` numbers from row to row
  std::int64_t stride;
  const T *row_variance, *column_variance;
  T damping;
  bool centered;                       // damp the covariance of (x − p)(y − q) instead of x y
  T *on_first, *on_second, *variance;  // results: rows × columns
};

template <class T>
void launch_pair_regression(const PairRegression<T>& fit, Stream stream);

}  // namespace harmonium::cuda
