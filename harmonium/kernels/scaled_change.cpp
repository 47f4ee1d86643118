#include "harmonium/kernels/scaled_change.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"

namespace harmonium {

namespace {

// Several running maxima, so that the loop is not one long chain of comparisons.
template <class Real>
HARMONIUM_INLINE Real largest_in_row(const Real* after, const Real* before, const Real* scales, std::int64_t n) {
  constexpr std::int64_t lanes = 16;
  Real largest[lanes] = {};
  std::int64_t j = 0;
  for (; j + lanes <= n; j += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const Real change = std::abs(after[j + lane] - before[j + lane]) * scales[j + lane];
      largest[lane] = change > largest[lane] ? change : largest[lane];
    }
  Real result = 0;
  for (; j < n; ++j) {
    const Real change = std::abs(after[j] - before[j]) * scales[j];
    result = change > result ? change : result;
  }
  for (const Real each : largest) result = each > result ? each : result;
  return result;
}

HARMONIUM_CLONES double largest_in(const float* after, const float* before, const float* rows, const float* columns,
                                   std::int64_t n, std::int64_t m) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    largest = std::max(largest, double{largest_in_row(after + i * m, before + i * m, columns, m)} * rows[i]);
  return largest;
}
HARMONIUM_CLONES double largest_in(const double* after, const double* before, const double* rows, const double* columns,
                                   std::int64_t n, std::int64_t m) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    largest = std::max(largest, largest_in_row(after + i * m, before + i * m, columns, m) * rows[i]);
  return largest;
}

}  // namespace

at::Tensor largest_scaled_change(const at::Tensor& after, const at::Tensor& before, const at::Tensor& row_scales,
                                 const at::Tensor& column_scales) {
  const std::int64_t n = after.size(0), m = after.size(1);
  require(after.dim() == 2 && before.sizes() == after.sizes() && row_scales.numel() == n && column_scales.numel() == m,
          "a change of {} × {} numbers with {} scales of rows and {} of columns", n, m, row_scales.numel(),
          column_scales.numel());
  if (!after.is_cpu()) {
    const at::Tensor change = (after - before).abs() * row_scales.unsqueeze(1) * column_scales;
    return change.nan_to_num(0).max();
  }
  const at::Tensor a = after.contiguous(), b = before.contiguous(), r = row_scales.contiguous(),
                   c = column_scales.contiguous();
  double found = 0;
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "largest_scaled_change", [&] {
    found = largest_in(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), r.data_ptr<scalar_t>(), c.data_ptr<scalar_t>(),
                       n, m);
  });
  return at::scalar_tensor(found, at::kDouble);
}

}  // namespace harmonium
