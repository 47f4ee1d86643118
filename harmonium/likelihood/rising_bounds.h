// How an importance bound rises with the number of draws: L_1, L_10, L_100, … of every row from the same K draws,
//
//   L_k = E log (1/k) Σ_{j ≤ k} w_j,   estimated by the mean over ⌊K/k⌋ groups of k draws that follow each other.
//
// Each is unbiased for its L_k. Draws are added as they come; memory does not grow with them, nor does anything depend
// on the pieces they come in. A group of ten groups is one logsumexp of their sums.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace harmonium {

class RisingBounds {
 public:
  // For all powers of ten below `draws`, of which there must be two or more.
  RisingBounds(std::int64_t rows, std::int64_t draws, const at::TensorOptions& options);

  // log w of further draws, rows × any number.
  void add(const at::Tensor& log_weights);
  // Rows × powers of ten, float64, once all draws were added.
  [[nodiscard]] at::Tensor bounds() const;

 private:
  struct Power {
    at::Tensor sum;      // rows: of log p̂ of all groups
    at::Tensor waiting;  // rows × fewer than ten: log sums of groups that wait for others
    std::int64_t groups = 0, draws = 1;
  };
  std::vector<Power> powers_;
};

}  // namespace harmonium
