#include "harmonium/models/free_energy/state_bits.h"

#include <ATen/ATen.h>

#include "harmonium/kernels/random.h"

namespace harmonium {

at::Tensor state_bits(const at::Tensor& numbers, std::int64_t width) {
  const at::Tensor shifted = at::bitwise_right_shift(numbers.unsqueeze(1), at::arange(width, at::kLong));
  return shifted.bitwise_and(1).to(at::kDouble);
}

at::Tensor draw_states(const at::Tensor& log_weights, const Key& key, std::int64_t rows) {
  const at::Tensor flat = log_weights.view({-1}), cumulative = at::softmax(flat, 0).cumsum(0);
  return at::searchsorted(cumulative, uniform(key, {rows}, at::kDouble)).clamp_max(flat.size(0) - 1);
}

at::Tensor gaussian_draws(const at::Tensor& factors, const at::Tensor& m, const at::Tensor& noise) {
  const at::Tensor y = at::linalg_solve_triangular(factors, m.unsqueeze(2), /*upper=*/false) + noise.unsqueeze(2);
  return at::linalg_solve_triangular(factors.transpose(1, 2), y, /*upper=*/true).squeeze(2);
}

}  // namespace harmonium
