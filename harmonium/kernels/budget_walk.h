// Walks over N binary units of which at most k are on (units/cardinality.h), one row of fields x after the other,
// without a logarithm for every pair of a unit and a budget r, how many may still be on.
//
// With S̃_j(r) the sum over units j … N and q_j(r) = S̃_j(r−1)/S̃_j(r), which is 1 behind the last unit,
//   o = e^{x_j} q_{j+1}(r),   P_j(r) = o/(1 + o) (unit j is on),   q_j(r) = q_{j+1}(r) (1 + o at r−1)/(1 + o),
// o = 0 at r = 0, and log S̃_1(k) = Σ_j log(1 + o at k). From the last unit to the first that gives all P_j(r); from the
// first to the last, means and draws. N k divisions a row, and a table of N × k numbers for each thread.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// Whether fields are on the CPU and within what e^x can take, |x| ≤ 690. False for NaN.
[[nodiscard]] bool budget_walk_serves(const at::Tensor& field);

// Of rows × N, float64 and served. log Σ_{x: Σx ≤ k} e^{field·x} of each row.
[[nodiscard]] at::Tensor budget_log_partition(const at::Tensor& field, std::int64_t most);
[[nodiscard]] at::Tensor budget_means(const at::Tensor& field, std::int64_t most);
// Unit j is on where its uniform number is below P_j(r). `uniforms`: rows × N, float64.
[[nodiscard]] at::Tensor budget_draws(const at::Tensor& field, std::int64_t most, const at::Tensor& uniforms);

}  // namespace harmonium
