// The loops of kernels/nade_loop.h for some rows at a time, to be inlined into functions that are compiled once for
// every instruction set. Notation as there; d_k is the gradient with respect to a_k, δ_k = x_k − σ(z_k) that with
// respect to z_k:
//
//   ∂V_k = δ_k h_k,   d_k = d_{k+1} + δ_k V_k h_k (1 − h_k),   ∂W_k = x_k d_{k+1},   ∂c = d_0,   ∂b_k = δ_k
//
// Where biases are each row's own, ∂c and ∂b are, too, and errors δ_k may be given from outside.
#pragma once

#include <cstdint>

#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/elementary.h"

namespace harmonium::nade {

// Rows whose sums are in registers together, and rows that walk together, so that parameters and their gradients, which
// no near cache holds, are read and written once for all of them. What walks along is 200 kB at H = 500.
constexpr std::int64_t group = 8, team = 32;

// 64 bytes of numbers, wherever they lie.
template <class T>
struct Vector;
template <>
struct Vector<float> {
  using Type = float __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct Vector<double> {
  using Type = double __attribute__((vector_size(64), aligned(8), may_alias));
};
template <class T>
using Pack = typename Vector<T>::Type;
template <class T>
constexpr std::int64_t lanes = 64 / sizeof(T);
template <class T>
HARMONIUM_INLINE Pack<T>& vector_at(T* numbers) {
  return *reinterpret_cast<Pack<T>*>(numbers);
}
template <class T>
HARMONIUM_INLINE const Pack<T>& vector_at(const T* numbers) {
  return *reinterpret_cast<const Pack<T>*>(numbers);
}

// A net whose rows are padded with zeros to `width`, a multiple of all vectors. Biases of two rows of the data are so
// far apart: 0 where all rows have the same.
template <class T>
struct PaddedNet {
  const T *c, *W, *b, *V;
  std::int64_t inputs, width, c_stride, b_stride;

  // As the rows of the data from number `row` on see it.
  [[nodiscard]] HARMONIUM_INLINE PaddedNet from_row(std::int64_t row) const {
    PaddedNet other = *this;
    other.c += row * c_stride;
    other.b += row * b_stride;
    return other;
  }
};

// Sums over rows, padded alike.
template <class T>
struct PaddedSums {
  T *c, *W, *b, *V;
};

// Errors that come from outside (rows × inputs), and where d_0 of every row goes (rows × width). Null: errors are those
// of log p, and all rows have the same biases.
template <class T>
struct GivenErrors {
  const T* delta = nullptr;
  T* d = nullptr;
};

// Rows of a group in scratch memory are an odd number of cache lines apart: at 2 kB, as for H = 512, the same column of
// all of them would fall into the same few places of the first cache, which costs an update 5 to 15 %.
template <class T>
HARMONIUM_INLINE constexpr std::int64_t scratch_stride(std::int64_t width) {
  return (width / lanes<T> | 1) * lanes<T>;
}

template <class T>
HARMONIUM_INLINE void hidden_values(const T* a, T* h, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t j = 0; j < n; ++j) h[j] = elementary::logistic(a[j]);
}

// a += factor·w, h = σ(a).
template <class T>
HARMONIUM_INLINE void move_hidden(T factor, const T* w, T* a, T* h, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t j = 0; j < n; ++j) {
    a[j] += factor * w[j];
    h[j] = elementary::logistic(a[j]);
  }
}

// v·h_r for the rows of a group. Halves are added to each other, so the order of sums is the same for all
// instruction sets.
template <class T>
HARMONIUM_INLINE void group_products(const T* v, const T* h, std::int64_t width, T* product) {
  const std::int64_t stride = scratch_stride<T>(width);
  Pack<T> sum[group] = {};
  for (std::int64_t j = 0; j < width; j += lanes<T>) {
    const Pack<T> factor = vector_at(v + j);
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < group; ++r) sum[r] += factor * vector_at(h + r * stride + j);
  }
  for (std::int64_t r = 0; r < group; ++r) {
    T part[lanes<T>];
    vector_at(part) = sum[r];
    for (std::int64_t half = lanes<T> / 2; half > 0; half /= 2)
      for (std::int64_t l = 0; l < half; ++l) part[l] += part[l + half];
    product[r] = part[0];
  }
}

// dV += Σ_r δ_r h_r and d_r += δ_r V h_r (1 − h_r), d the gradient with respect to a.
template <class T>
HARMONIUM_INLINE void add_errors(const T* delta, const T* v, const T* h, T* d, T* dV, std::int64_t width) {
  const std::int64_t stride = scratch_stride<T>(width);
  for (std::int64_t j = 0; j < width; j += lanes<T>) {
    const Pack<T> factor = vector_at(v + j);
    Pack<T> sum = vector_at(dV + j);
#pragma GCC unroll 8
    for (std::int64_t r = 0; r < group; ++r) {
      const Pack<T> value = vector_at(h + r * stride + j), error = delta[r] * value;
      sum += error;
      vector_at(d + r * stride + j) += (error - error * value) * factor;
    }
    vector_at(dV + j) = sum;
  }
}

// Rows of x, u and z are `inputs` apart; u may be null, then nothing is drawn. `scratch` holds two groups.
template <class T>
HARMONIUM_INLINE void forward_walk(const PaddedNet<T>& net, T* x, const T* u, std::int64_t first, T* z,
                                   std::int64_t rows, T* scratch) {
  const std::int64_t width = net.width, stride = scratch_stride<T>(width);
  T *a = scratch, *h = a + group * stride, total[group];
  for (std::int64_t r = 0; r < group; ++r) {
    for (std::int64_t j = 0; j < width; ++j) a[r * stride + j] = r < rows ? net.c[r * net.c_stride + j] : T(0);
    hidden_values(a + r * stride, h + r * stride, width);
  }
  for (std::int64_t k = 0; k < net.inputs; ++k) {
    group_products(net.V + k * width, h, width, total);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t place = r * net.inputs + k;
      total[r] = net.b[r * net.b_stride + k] + total[r];
      if (z != nullptr) z[place] = total[r];
      if (u != nullptr && k >= first) x[place] = elementary::below_logistic(u[place], total[r]) ? T(1) : T(0);
      if (x[place] != 0) move_hidden(x[place], net.W + k * width, a + r * stride, h + r * stride, width);
    }
  }
}

// A group's part of what follows a step back over input k: a, h and d are its own.
template <class T>
HARMONIUM_INLINE void step_back(const PaddedNet<T>& net, std::int64_t k, const T* x, T* z, const T* given,
                                std::int64_t rows, T* a, T* h, T* d, const PaddedSums<T>& sums) {
  const std::int64_t width = net.width, stride = scratch_stride<T>(width);
  const T *W = net.W + k * width, *V = net.V + k * width;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T value = x[r * net.inputs + k], *from = d + r * stride;
    if (value == 0) continue;
    T* to = sums.W + k * width;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < width; ++j) to[j] += value * from[j];
    move_hidden(-value, W, a + r * stride, h + r * stride, width);
  }
  T total[group], delta[group] = {}, error = 0;  // rows that are not there have errors of zero, and count for nothing
  if (given != nullptr) {
    for (std::int64_t r = 0; r < rows; ++r) delta[r] = given[r * net.inputs + k];
  } else {
    group_products(V, h, width, total);
    for (std::int64_t r = 0; r < rows; ++r) {
      total[r] = net.b[k] + total[r];
      z[r * net.inputs + k] = total[r];
      delta[r] = x[r * net.inputs + k] - elementary::logistic(total[r]);
      error += delta[r];
    }
    sums.b[k] += error;
  }
  add_errors(delta, V, h, d, sums.V + k * width, width);
}

// For at most `team` rows. `end` is a_N, rows `width` apart. `scratch` holds three teams.
template <class T>
HARMONIUM_INLINE void backward_walk(const PaddedNet<T>& net, const T* x, const T* end, T* z,
                                    const GivenErrors<T>& given, std::int64_t rows, const PaddedSums<T>& sums,
                                    T* scratch) {
  const std::int64_t width = net.width, stride = scratch_stride<T>(width);
  T *a = scratch, *h = a + team * stride, *d = h + team * stride;
  for (std::int64_t r = 0; r < team; ++r) {
    for (std::int64_t j = 0; j < width; ++j) a[r * stride + j] = r < rows ? end[r * width + j] : T(0);
    for (std::int64_t j = 0; j < width; ++j) d[r * stride + j] = 0;
    hidden_values(a + r * stride, h + r * stride, width);
  }
  for (std::int64_t k = net.inputs - 1; k >= 0; --k)
    for (std::int64_t first = 0; first < rows; first += group) {
      const std::int64_t begin = first * stride, place = first * net.inputs;
      step_back(net, k, x + place, z == nullptr ? nullptr : z + place,
                given.delta == nullptr ? nullptr : given.delta + place, rows - first < group ? rows - first : group,
                a + begin, h + begin, d + begin, sums);
    }
  for (std::int64_t r = 0; given.d != nullptr && r < rows; ++r)
    for (std::int64_t j = 0; j < width; ++j) given.d[r * width + j] = d[r * stride + j];
  for (std::int64_t r = 0; given.d == nullptr && r < rows; ++r)
    for (std::int64_t j = 0; j < width; ++j) sums.c[j] += d[r * stride + j];
}

}  // namespace harmonium::nade
