// exp, logistic and softplus without branches or tables, so that loops over them vectorise.
//
// e^x: x = n ln 2 + r with |r| ≤ ln 2 / 2 and a Taylor polynomial of r; degree 7 leaves a relative error below
// (0.347)^8/8! ≈ 5e-9 for float, degree 13 below 4e-18 for double.
// log(1 + e) for 0 < e ≤ 1: 2 artanh(e / (2 + e)), an odd series in s = e/(2+e) ≤ 1/3 cut where 9^-k/(2k+1) is below
// rounding.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "harmonium/kernels/clones.h"

namespace harmonium::elementary {

template <class T>
struct Constants;

// 1/k! and 1/(2k+1), as constants so that no division is left in a loop.
template <class T, int count>
constexpr std::array<T, count> inverse_factorials() {
  std::array<T, count> result{};
  double factorial = 1;
  for (int k = 0; k < count; ++k, factorial *= k) result[k] = static_cast<T>(1 / factorial);
  return result;
}
template <class T, int count>
constexpr std::array<T, count> inverse_odds() {
  std::array<T, count> result{};
  for (int k = 0; k < count; ++k) result[k] = static_cast<T>(1.0 / (2 * k + 1));
  return result;
}

// Σ_{k ≥ first} coefficient[k] x^{k − first} by Horner's rule, unrolled at compile time.
template <std::size_t first = 0, class T, std::size_t count>
HARMONIUM_INLINE T polynomial(const std::array<T, count>& coefficient, T x) {
  if constexpr (first + 1 == count)
    return coefficient[first];
  else
    return polynomial<first + 1>(coefficient, x) * x + coefficient[first];
}

template <>
struct Constants<float> {
  using Bits = std::int32_t;
  static constexpr float shift = 0x1.8p23F, ln2_high = 0x1.62e4p-1F, ln2_low = 0x1.7f7d1cp-20F, lowest = -87.0F;
  static constexpr int mantissa = 23, exponent_bias = 127, exp_degree = 7, log_terms = 8;
};

template <>
struct Constants<double> {
  using Bits = std::int64_t;
  static constexpr double shift = 0x1.8p52, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33,
                          lowest = -708.0;
  static constexpr int mantissa = 52, exponent_bias = 1023, exp_degree = 13, log_terms = 17;
};

// e^x for x ≤ 0; below `lowest` the result is e^lowest, which every caller rounds away against 1.
template <class T>
HARMONIUM_INLINE T exp_of_negative(T x) {
  using C = Constants<T>;
  x = x < C::lowest ? C::lowest : x;
  const T shifted = x * T(1.4426950408889634) + C::shift;  // adding 1.5·2^mantissa rounds to an integer in the low bits
  const T n = shifted - C::shift;
  const T r = (x - n * C::ln2_high) - n * C::ln2_low;
  constexpr auto coefficients = inverse_factorials<T, C::exp_degree + 1>();
  using Bits = typename C::Bits;
  const Bits exponent = std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(C::shift);
  return polynomial(coefficients, r) *
         std::bit_cast<T>(static_cast<Bits>((exponent + C::exponent_bias) << C::mantissa));
}

template <class T>
HARMONIUM_INLINE T logistic(T x) {
  const T e = exp_of_negative(-std::abs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

// Whether u < σ(x), without the division.
template <class T>
HARMONIUM_INLINE bool below_logistic(T u, T x) {
  const T e = exp_of_negative(-std::abs(x));
  return u * (1 + e) < (x < 0 ? e : T(1));
}

// log(1 + e^x).
template <class T>
HARMONIUM_INLINE T softplus(T x) {
  const T e = exp_of_negative(-std::abs(x));
  const T s = e / (2 + e), square = s * s;
  constexpr auto coefficients = inverse_odds<T, Constants<T>::log_terms>();
  return (x > 0 ? x : T(0)) + 2 * s * polynomial(coefficients, square);
}

}  // namespace harmonium::elementary
