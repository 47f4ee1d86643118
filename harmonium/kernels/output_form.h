// How what parts add to a pixel becomes its value (kernels/render_templates.h). Knows nothing of LibTorch, so that
// kernels for devices take it as well.
#pragma once

#include <cstdint>

#include "harmonium/kernels/elementary.h"

namespace harmonium {

enum class OutputModel {
  semisoft,      // (1/β)(log Σ_k e^{β a_k} − log K): the largest, softened; exactly 0 where nothing is drawn
  sum,           // Σ_k a_k
  maximum,       // max_k a_k; the first of the largest has the gradient
  soft,          // semisoft with β = 1
  logistic,      // σ(Σ_k a_k): ½ where nothing is drawn
  clamped,       // min(Σ_k a_k, 1)
  soft_clamped,  // f(1) − f(1 − Σ_k a_k), f(x) = log(1 + e^{10x})/10
};

struct Canvas {
  std::int64_t rows = 28, columns = 28;
  [[nodiscard]] std::int64_t pixels() const { return rows * columns; }
  friend bool operator==(const Canvas&, const Canvas&) = default;
};

struct OutputForm {
  OutputModel model = OutputModel::semisoft;
  double sharpness = 100;  // β of semisoft
};

// x̂ of a pixel, and ∂x̂/∂Σ, where x̂ is a function of Σ_k a_k.
template <class T>
struct PixelValue {
  T value, slope;
};

template <class T>
HARMONIUM_INLINE PixelValue<T> sum_pixel(T sum) {
  return {sum, T(1)};
}
template <class T>
HARMONIUM_INLINE PixelValue<T> logistic_pixel(T sum) {
  const T x = elementary::logistic(sum);
  return {x, x * (1 - x)};
}
template <class T>
HARMONIUM_INLINE PixelValue<T> clamped_pixel(T sum) {
  return sum < 1 ? PixelValue<T>{sum, T(1)} : PixelValue<T>{T(1), T(0)};
}
template <class T>
HARMONIUM_INLINE PixelValue<T> soft_clamped_pixel(T sum) {
  constexpr T ten = 10;
  return {(elementary::softplus(ten) - elementary::softplus(ten * (1 - sum))) / ten,
          elementary::logistic(ten * (1 - sum))};
}

}  // namespace harmonium
