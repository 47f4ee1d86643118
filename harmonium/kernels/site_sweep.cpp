#include "harmonium/kernels/site_sweep.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

HARMONIUM_CLONES void add_row(float* field, const float* row, float factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) field[i] += factor * row[i];
}
HARMONIUM_CLONES void add_row(double* field, const double* row, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) field[i] += factor * row[i];
}

template <class T>
struct Chain {
  T *x, *field;
  const T* chance;  // binary units: log(u / (1 − u)), so that no logistic is needed; groups: u
  const bool* held;
  const T* couplings;
  T scale;
  std::int64_t width, columns;

  void flip(std::int64_t i) const {
    const T value = field[i] > chance[i] ? T(1) : T(0);
    if (value == x[i]) return;
    add_row(field, couplings + i * width, scale * (value - x[i]), width);
    x[i] = value;
  }

  void choose(std::int64_t first) const {
    T peak = field[first], total = 0;
    for (std::int64_t k = 1; k < columns; ++k) peak = std::max(peak, field[first + k]);
    for (std::int64_t k = 0; k < columns; ++k) total += std::exp(field[first + k] - peak);
    T left = chance[first] * total;
    std::int64_t chosen = 0;
    while (chosen + 1 < columns && left >= std::exp(field[first + chosen] - peak))
      left -= std::exp(field[first + chosen++] - peak);
    for (std::int64_t k = 0; k < columns; ++k) {
      const T value = k == chosen ? T(1) : T(0);
      if (value != x[first + k]) add_row(field, couplings + (first + k) * width, scale * (value - x[first + k]), width);
      x[first + k] = value;
    }
  }

  void sweep(bool forwards) const {
    const std::int64_t parts = width / columns;
    for (std::int64_t step = 0; step < parts; ++step) {
      const std::int64_t first = (forwards ? step : parts - 1 - step) * columns;
      if (held != nullptr && held[first]) continue;
      if (columns == 1)
        flip(first);
      else
        choose(first);
    }
  }
};

}  // namespace

at::Tensor site_sweep(const Key& key, const at::Tensor& state, SiteSweep sweep) {
  if (!state.is_cpu()) {
    sweep.field = on_cpu(sweep.field);
    sweep.couplings = on_cpu(sweep.couplings);
    sweep.held = on_cpu(sweep.held);
    return site_sweep(key, on_cpu(state), std::move(sweep)).to(state.device());
  }
  const std::int64_t rows = state.size(0), width = state.size(1);
  require(sweep.field.sizes() == state.sizes() && sweep.couplings.dim() == 2 && sweep.couplings.size(0) == width &&
              sweep.couplings.size(1) == width && width % sweep.columns == 0,
          "site_sweep: field and couplings do not fit a state of {} x {}", rows, width);
  at::Tensor x = state.clone(at::MemoryFormat::Contiguous), field = sweep.field.contiguous();
  const at::Tensor couplings = sweep.couplings.to(x.scalar_type()).contiguous();
  at::Tensor chances = uniform(key.fold_in(0), x.sizes(), x.scalar_type());
  if (sweep.columns == 1) chances = at::logit(chances);
  const at::Tensor coins = uniform(key.fold_in(1), {rows}, at::kFloat);
  const at::Tensor held = sweep.held.defined() ? sweep.held.expand(x.sizes()).contiguous() : at::Tensor();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "site_sweep", [&] {
    const Chain<scalar_t> all{.x = x.data_ptr<scalar_t>(),
                              .field = field.data_ptr<scalar_t>(),
                              .chance = chances.data_ptr<scalar_t>(),
                              .held = held.defined() ? held.data_ptr<bool>() : nullptr,
                              .couplings = couplings.data_ptr<scalar_t>(),
                              .scale = static_cast<scalar_t>(sweep.scale),
                              .width = width,
                              .columns = sweep.columns};
    const float* coin = coins.data_ptr<float>();
    const std::int64_t grain = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, width * width));
    at::parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        Chain<scalar_t> one = all;
        one.x += row * width;
        one.field += row * width;
        one.chance += row * width;
        if (one.held != nullptr) one.held += row * width;
        one.sweep(coin[row] < 0.5F);
      }
    });
  });
  return x;
}

}  // namespace harmonium
