#include "harmonium/models/free_energy/gaussian_rows.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/models/checked_cholesky.h"

namespace harmonium {

at::Tensor draw_by_precision(const at::Tensor& precision, const at::Tensor& linear, const at::Tensor& noise) {
  const at::Tensor L = checked_cholesky(precision, "precisions of the hidden states");
  const at::Tensor y = at::linalg_solve_triangular(L, linear.unsqueeze(2), /*upper=*/false) + noise.unsqueeze(2);
  return at::linalg_solve_triangular(L.transpose(1, 2), y, /*upper=*/true).squeeze(2);
}

std::int64_t rows_at_once(std::int64_t D, std::int64_t widest) {
  constexpr std::int64_t numbers = 1 << 21;
  return std::max<std::int64_t>(1, numbers / (D * std::max(D, widest)));
}

}  // namespace harmonium
