#include "harmonium/likelihood/weight_tails.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "harmonium/core/device.h"
#include "harmonium/likelihood/weights.h"

namespace harmonium {

WeightTails::WeightTails(std::int64_t draws) : tail_(pareto_tail(draws)) {}

void WeightTails::add(const at::Tensor& log_weights) {
  if (tail_ == 0) return;
  const at::Tensor all = largest_.defined() ? at::cat({largest_, log_weights}, 1) : log_weights;
  largest_ = std::get<0>(all.topk(std::min(all.size(1), tail_ + 1), 1));
}

at::Tensor WeightTails::shapes() const {
  if (tail_ == 0) return {};
  const at::Tensor largest = on_cpu(largest_).to(at::kDouble);
  // Increasing, the last of each row 1, less the one below the tail.
  const at::Tensor sorted = std::get<0>((largest - largest.amax(1, /*keepdim=*/true)).exp().sort(1));
  const at::Tensor exceedances = sorted.narrow(1, 1, tail_) - sorted.narrow(1, 0, 1);
  std::vector<double> shapes;
  for (std::int64_t row = 0; row < sorted.size(0); ++row) shapes.push_back(pareto_shape(exceedances[row]));
  return at::tensor(shapes, at::kDouble);
}

}  // namespace harmonium
