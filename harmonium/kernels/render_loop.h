// The loops of render_templates.cpp: one row of a batch, drawn and gone back through.
//
// Places inside the template change by (du, dv) from one pixel of a line to the next, so a part's pixels in a line are
// one span, found by dividing. Templates have a rim of zeros, S + 2 numbers a line, so that no tap needs a question.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/elementary.h"
#include "harmonium/kernels/render_templates.h"

namespace harmonium::render_loop {

struct Sizes {
  std::int64_t parts, channels, template_size, rows, columns;
  [[nodiscard]] std::int64_t pixels() const { return rows * columns; }
  [[nodiscard]] std::int64_t wide() const { return template_size + 2; }
  [[nodiscard]] std::int64_t padded() const { return wide() * wide(); }
};

struct Span {
  std::int32_t begin, end;
};

// What one row of a batch needs while it is drawn; a thread has one and uses it again.
template <class T>
struct Scratch {
  explicit Scratch(const Sizes& sizes)
      : spans(static_cast<std::size_t>(sizes.parts * sizes.rows)),
        value(static_cast<std::size_t>(sizes.parts * sizes.pixels())),
        du(value.size()),
        dv(value.size()),
        sampled(value.size() * static_cast<std::size_t>(sizes.channels)),
        picture(static_cast<std::size_t>(sizes.pixels())),
        sum(picture.size()),
        outside(picture.size()) {}

  std::vector<Span> spans;       // parts × rows
  std::vector<T> value, du, dv;  // a, then r; D: parts × pixels, of spans only
  std::vector<T> sampled;        // s, parts × channels × pixels
  std::vector<T> picture, sum;   // x̂, and what it is made of
  std::vector<T> outside;        // how many parts do not reach the pixel
};

// u and v at pixel (r, c) of a part are first + step · c + line · r.
template <class T>
struct Walk {
  T u, u_step, u_line, v, v_step, v_line;

  Walk(const T* pose, const Sizes& sizes) {
    const T S = static_cast<T>(sizes.template_size), x_step = T(1) / static_cast<T>(sizes.columns),
            y_step = T(1) / static_cast<T>(sizes.rows);
    const auto place = [&](const T* row, T& first, T& step, T& line) {
      first = S * (row[0] * x_step / 2 + row[1] * y_step / 2 + row[2]) - T(0.5);
      step = S * row[0] * x_step;
      line = S * row[1] * y_step;
    };
    place(pose, u, u_step, u_line);
    place(pose + 3, v, v_step, v_line);
  }
};

// Narrows a span to where −1 ≤ first + step · c < size, with a pixel to spare on either side.
template <class T>
HARMONIUM_INLINE void narrow(Span& span, T first, T step, T size) {
  if (step == 0) {
    if (!(first >= -1 && first < size)) span.end = span.begin;
    return;
  }
  T low = (-1 - first) / step, high = (size - first) / step;
  if (low > high) std::swap(low, high);
  if (!(low <= high)) {  // not a number
    span.end = span.begin;
    return;
  }
  const T begin = static_cast<T>(span.begin), end = static_cast<T>(span.end);
  span.begin = static_cast<std::int32_t>(std::clamp(std::floor(low), begin, end));
  span.end = static_cast<std::int32_t>(std::clamp(std::ceil(high) + 1, static_cast<T>(span.begin), end));
}

// Where a place falls in a template: the number of its upper left tap, and how far it is from that.
template <class T>
struct Place {
  std::int32_t tap;
  T phi, psi, within;  // within: 1, or 0 outside

  HARMONIUM_INLINE Place(T u, T v, std::int32_t size) {
    const bool inside = u >= -1 && u < static_cast<T>(size) && v >= -1 && v < static_cast<T>(size);
    u = inside ? u : T(-1);
    v = inside ? v : T(-1);
    const T left = std::floor(u), above = std::floor(v);
    phi = u - left;
    psi = v - above;
    within = inside ? T(1) : T(0);
    tap = (static_cast<std::int32_t>(above) + 1) * (size + 2) + static_cast<std::int32_t>(left) + 1;
  }
};

// Fills spans, value, du, dv and sampled of part k.
template <class T>
HARMONIUM_INLINE void draw_part(const T* pose, const T* intensity, const T* templates, std::int64_t k,
                                const Sizes& sizes, Scratch<T>& scratch) {
  const Walk<T> walk(pose, sizes);
  const auto size = static_cast<std::int32_t>(sizes.template_size), wide = size + 2;
  for (std::int64_t r = 0; r < sizes.rows; ++r) {
    const T line = static_cast<T>(r), u_first = walk.u + walk.u_line * line, v_first = walk.v + walk.v_line * line;
    Span& span = scratch.spans[static_cast<std::size_t>(k * sizes.rows + r)];
    span = {0, static_cast<std::int32_t>(sizes.columns)};
    narrow(span, u_first, walk.u_step, static_cast<T>(size));
    narrow(span, v_first, walk.v_step, static_cast<T>(size));
    const std::int64_t start = k * sizes.pixels() + r * sizes.columns;
    T *value = scratch.value.data() + start, *du = scratch.du.data() + start, *dv = scratch.dv.data() + start;
    for (std::int64_t l = 0; l < sizes.channels; ++l) {
      const T* t = templates + (k * sizes.channels + l) * sizes.padded();
      T* sampled = scratch.sampled.data() + (k * sizes.channels + l) * sizes.pixels() + r * sizes.columns;
      const T strength = intensity[l], keep = l == 0 ? T(0) : T(1);
#pragma GCC ivdep
      for (std::int32_t c = span.begin; c < span.end; ++c) {
        const T column = static_cast<T>(c);
        const Place<T> place(u_first + walk.u_step * column, v_first + walk.v_step * column, size);
        const T t00 = t[place.tap], t10 = t[place.tap + 1], t01 = t[place.tap + wide], t11 = t[place.tap + wide + 1];
        const T upper = t00 + place.phi * (t10 - t00), lower = t01 + place.phi * (t11 - t01);
        const T s = place.within * (upper + place.psi * (lower - upper));
        const T right = (1 - place.psi) * (t10 - t00) + place.psi * (t11 - t01);
        sampled[c] = s;
        value[c] = (keep == 0 ? T(0) : value[c]) + strength * s;
        du[c] = (keep == 0 ? T(0) : du[c]) + strength * place.within * right;
        dv[c] = (keep == 0 ? T(0) : dv[c]) + strength * place.within * (lower - upper);
      }
    }
  }
}

// Calls visit(start in a picture, part's numbers from there, count) for all spans of all parts.
template <class T, class Visit>
HARMONIUM_INLINE void for_each_span(const Sizes& sizes, Scratch<T>& scratch, Visit&& visit) {
  for (std::int64_t k = 0; k < sizes.parts; ++k)
    for (std::int64_t r = 0; r < sizes.rows; ++r) {
      const Span span = scratch.spans[static_cast<std::size_t>(k * sizes.rows + r)];
      const std::int64_t start = r * sizes.columns + span.begin;
      visit(start, k * sizes.pixels() + start, std::int64_t{span.end - span.begin});
    }
}

// The picture by β-softened maximum; value becomes r.
template <class T>
HARMONIUM_INLINE void soften(T sharpness, const Sizes& sizes, Scratch<T>& scratch) {
  const std::int64_t P = sizes.pixels();
  T *picture = scratch.picture.data(), *sum = scratch.sum.data(), *outside = scratch.outside.data(),
    *value = scratch.value.data();
  for (std::int64_t p = 0; p < P; ++p) {
    picture[p] = std::numeric_limits<T>::lowest();
    outside[p] = static_cast<T>(sizes.parts);
  }
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
      picture[start + i] = std::max(picture[start + i], value[from + i]);
      outside[start + i] -= 1;
    }
  });
#pragma GCC ivdep
  for (std::int64_t p = 0; p < P; ++p) {
    if (outside[p] > 0) picture[p] = std::max(picture[p], T(0));
    sum[p] = outside[p] * (outside[p] > 0 ? elementary::exp_of_negative(-sharpness * picture[p]) : T(0));
  }
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
      const T e = elementary::exp_of_negative(sharpness * (value[from + i] - picture[start + i]));
      value[from + i] = e;
      sum[start + i] += e;
    }
  });
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) value[from + i] /= sum[start + i];
  });
  const T log_parts = std::log(static_cast<T>(sizes.parts));
  for (std::int64_t p = 0; p < P; ++p) picture[p] += (std::log(sum[p]) - log_parts) / sharpness;
}

// The same for functions of Σ a: function(sum) gives x̂ and dx̂/dΣ.
template <class T, class Function>
HARMONIUM_INLINE void by_sum(const Sizes& sizes, Scratch<T>& scratch, Function&& function) {
  const std::int64_t P = sizes.pixels();
  T *picture = scratch.picture.data(), *sum = scratch.sum.data(), *value = scratch.value.data();
  std::fill(sum, sum + P, T(0));
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) sum[start + i] += value[from + i];
  });
  for (std::int64_t p = 0; p < P; ++p) {
    const auto [x, slope] = function(sum[p]);
    picture[p] = x;
    sum[p] = slope;
  }
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) value[from + i] = sum[start + i];
  });
}

// The same for the largest; the first of equal ones has the gradient.
template <class T>
HARMONIUM_INLINE void by_maximum(const Sizes& sizes, Scratch<T>& scratch) {
  const std::int64_t P = sizes.pixels();
  T *picture = scratch.picture.data(), *winner = scratch.sum.data(), *outside = scratch.outside.data(),
    *value = scratch.value.data();
  for (std::int64_t p = 0; p < P; ++p) {
    picture[p] = std::numeric_limits<T>::lowest();
    winner[p] = -1;
    outside[p] = static_cast<T>(sizes.parts);
  }
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      outside[start + i] -= 1;
      if (value[from + i] > picture[start + i]) {
        picture[start + i] = value[from + i];
        winner[start + i] = static_cast<T>((from - start) / P);
      }
    }
  });
  for (std::int64_t p = 0; p < P; ++p)
    if (outside[p] > 0 && picture[p] < 0) picture[p] = 0, winner[p] = -1;
  for_each_span(sizes, scratch, [&](std::int64_t start, std::int64_t from, std::int64_t count) {
    const T part = static_cast<T>((from - start) / P);
    for (std::int64_t i = 0; i < count; ++i) value[from + i] = winner[start + i] == part ? T(1) : T(0);
  });
}

// From value = r and error = 2(x̂ − x) to the gradients of part k. Those of templates are added, with their rims.
template <class T>
HARMONIUM_INLINE void back_through_part(const T* pose, const T* intensity, std::int64_t k, const Sizes& sizes,
                                        const Scratch<T>& scratch, const T* error, T* of_pose, T* of_intensity,
                                        T* of_templates) {
  const Walk<T> walk(pose, sizes);
  const auto size = static_cast<std::int32_t>(sizes.template_size), wide = size + 2;
  const T S = static_cast<T>(size), width = static_cast<T>(sizes.columns), height = static_cast<T>(sizes.rows);
  T of_u[3] = {0, 0, 0}, of_v[3] = {0, 0, 0};
  for (std::int64_t l = 0; l < sizes.channels; ++l) of_intensity[l] = 0;
  for (std::int64_t r = 0; r < sizes.rows; ++r) {
    const Span span = scratch.spans[static_cast<std::size_t>(k * sizes.rows + r)];
    const std::int64_t line_start = r * sizes.columns, start = k * sizes.pixels() + line_start;
    const T *share = scratch.value.data() + start, *du = scratch.du.data() + start, *dv = scratch.dv.data() + start,
            *off = error + line_start;
    T u_sum = 0, u_x = 0, v_sum = 0, v_x = 0;
    for (std::int32_t c = span.begin; c < span.end; ++c) {
      const T g = off[c] * share[c], x = static_cast<T>(c) + T(0.5), u = g * du[c], v = g * dv[c];
      u_sum += u;
      u_x += u * x;
      v_sum += v;
      v_x += v * x;
    }
    const T y = (static_cast<T>(r) + T(0.5)) / height;
    of_u[0] += u_x / width;
    of_u[1] += u_sum * y;
    of_u[2] += u_sum;
    of_v[0] += v_x / width;
    of_v[1] += v_sum * y;
    of_v[2] += v_sum;
    const T line = static_cast<T>(r), u_first = walk.u + walk.u_line * line, v_first = walk.v + walk.v_line * line;
    for (std::int64_t l = 0; l < sizes.channels; ++l) {
      const T* sampled = scratch.sampled.data() + (k * sizes.channels + l) * sizes.pixels() + line_start;
      T *to = of_templates + (k * sizes.channels + l) * sizes.padded(), total = 0;
      for (std::int32_t c = span.begin; c < span.end; ++c) {
        const T g = off[c] * share[c], column = static_cast<T>(c);
        total += g * sampled[c];
        const Place<T> place(u_first + walk.u_step * column, v_first + walk.v_step * column, size);
        const T h = g * intensity[l] * place.within, lower = h * place.psi, upper = h - lower;
        const T upper_right = upper * place.phi, lower_right = lower * place.phi;
        to[place.tap] += upper - upper_right;
        to[place.tap + 1] += upper_right;
        to[place.tap + wide] += lower - lower_right;
        to[place.tap + wide + 1] += lower_right;
      }
      of_intensity[l] += total;
    }
  }
  for (int i = 0; i < 3; ++i) {
    of_pose[i] = S * of_u[i];
    of_pose[3 + i] = S * of_v[i];
  }
}

}  // namespace harmonium::render_loop
