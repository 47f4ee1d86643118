// Poses of capsules: affine maps from the frame of a whole to that of a part (world → object).
//
// Every frame is of unit size with its middle at (½, ½); x points to the right, y downward. A nice pose is
// n = (t0, t1, s0, s1, z, θ): translation, scaling, shear, rotation. As a matrix, recentred, in the order of action
// translate, scale, shear, rotate,
//
//   A = R(θ) Z(z) S(s0, s1) = [ c s0, (c z − s) s1 ; s s0, (s z + c) s1 ],   b = ½ − A(½ + t),   M = [A | b],
//
// c = cos θ, s = sin θ, det A = s0 s1. So t is where the object's middle lies, relative to the middle of the world, and
// s > 1 makes the object smaller than the world. All of it is differentiable (Tieleman 2014, chapter 2). The other form
// has the six entries of M themselves, row by row.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

inline constexpr std::int64_t numbers_of_pose = 6;

enum class PoseForm { nice, matrix };

// … × 6 → … × 2 × 3.
[[nodiscard]] at::Tensor pose_matrix(const at::Tensor& nice);
[[nodiscard]] at::Tensor pose_matrix(const at::Tensor& numbers, PoseForm form);
// The six numbers of a nice pose in another form.
[[nodiscard]] at::Tensor pose_as(PoseForm form, const at::Tensor& nice);
// `outer` after `inner`, … × 2 × 3 each: A = A_o A_i, b = A_o b_i + b_o. Leading dimensions may broadcast.
[[nodiscard]] at::Tensor composed(const at::Tensor& outer, const at::Tensor& inner);
// The nice pose that changes nothing: (0, 0, 1, 1, 0, 0).
[[nodiscard]] at::Tensor rest_pose(const at::TensorOptions& options);
// det A, …
[[nodiscard]] at::Tensor pose_determinant(const at::Tensor& matrix);
// f(x) = log(1 + e^{10x})/10: intensities and ink that cannot be negative.
[[nodiscard]] at::Tensor nonnegative(const at::Tensor& raw);
// Its inverse, for x > 0.
[[nodiscard]] double raw_of_nonnegative(double value);

}  // namespace harmonium
