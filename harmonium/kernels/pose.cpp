#include "harmonium/kernels/pose.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

at::Tensor pose_matrix(const at::Tensor& nice) {
  require(nice.dim() >= 1 && nice.size(-1) == numbers_of_pose,
          "a pose has {} numbers (translation 2, scaling 2, shear, rotation), not {}", numbers_of_pose,
          nice.dim() >= 1 ? nice.size(-1) : 0);
  const at::Tensor t0 = nice.select(-1, 0), t1 = nice.select(-1, 1), s0 = nice.select(-1, 2), s1 = nice.select(-1, 3),
                   z = nice.select(-1, 4), c = nice.select(-1, 5).cos(), s = nice.select(-1, 5).sin();
  const at::Tensor a00 = c * s0, a01 = (c * z - s) * s1, a10 = s * s0, a11 = (s * z + c) * s1;
  const at::Tensor b0 = 0.5 - a00 * (0.5 + t0) - a01 * (0.5 + t1), b1 = 0.5 - a10 * (0.5 + t0) - a11 * (0.5 + t1);
  return at::stack({at::stack({a00, a01, b0}, -1), at::stack({a10, a11, b1}, -1)}, -2);
}

at::Tensor pose_matrix(const at::Tensor& numbers, PoseForm form) {
  if (form == PoseForm::nice) return pose_matrix(numbers);
  require(numbers.dim() >= 1 && numbers.size(-1) == numbers_of_pose, "a pose has {} entries, not {}", numbers_of_pose,
          numbers.dim() >= 1 ? numbers.size(-1) : 0);
  return numbers.unflatten(-1, {2, 3});
}

at::Tensor pose_as(PoseForm form, const at::Tensor& nice) {
  return form == PoseForm::nice ? nice : pose_matrix(nice).flatten(-2);
}

at::Tensor composed(const at::Tensor& outer, const at::Tensor& inner) {
  const at::Tensor a = outer.narrow(-1, 0, 2), b = outer.narrow(-1, 2, 1);
  const at::Tensor product = at::matmul(a, inner);  // … × 2 × 3: A_o A_i and A_o b_i
  return at::cat({product.narrow(-1, 0, 2), product.narrow(-1, 2, 1) + b}, -1);
}

at::Tensor rest_pose(const at::TensorOptions& options) {
  at::Tensor rest = at::zeros({numbers_of_pose}, options);
  rest.narrow(0, 2, 2).fill_(1);
  return rest;
}

at::Tensor pose_determinant(const at::Tensor& matrix) {
  const auto entry = [&](std::int64_t row, std::int64_t column) { return matrix.select(-2, row).select(-1, column); };
  return entry(0, 0) * entry(1, 1) - entry(0, 1) * entry(1, 0);
}

// Beyond the threshold, 10 x = 40, the exact value is x itself up to rounding, and e^{10x} would overflow float32.
at::Tensor nonnegative(const at::Tensor& raw) { return at::softplus(raw, 10, 40); }

double raw_of_nonnegative(double value) {
  require(value > 0, "{} is no value of log(1 + e^(10x))/10, which is positive", value);
  return std::log(std::expm1(10 * value)) / 10;
}

}  // namespace harmonium
