#include "harmonium/likelihood/rising_bounds.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::int64_t in_group = 10;

}  // namespace

RisingBounds::RisingBounds(std::int64_t rows, std::int64_t draws, const at::TensorOptions& options) {
  require(draws >= 2, "a bound that rises needs two draws or more, not {}", draws);
  const at::TensorOptions precise = options.dtype(at::kDouble);
  for (std::int64_t power = 1; power < draws; power *= in_group)
    powers_.push_back({.sum = at::zeros({rows}, precise), .waiting = at::empty({rows, 0}, precise), .draws = power});
}

void RisingBounds::add(const at::Tensor& log_weights) {
  at::Tensor sums = log_weights;
  for (std::size_t i = 0; i < powers_.size() && sums.size(1) > 0; ++i) {
    Power& power = powers_[i];
    power.sum =
        power.sum + sums.sum(1) - static_cast<double>(sums.size(1)) * std::log(static_cast<double>(power.draws));
    power.groups += sums.size(1);
    const at::Tensor all = at::cat({power.waiting, sums}, 1);
    const std::int64_t groups = all.size(1) / in_group;
    power.waiting = all.narrow(1, groups * in_group, all.size(1) - groups * in_group).clone();
    sums = at::logsumexp(all.narrow(1, 0, groups * in_group).reshape({all.size(0), groups, in_group}), 2);
  }
}

at::Tensor RisingBounds::bounds() const {
  std::vector<at::Tensor> each;
  for (const Power& power : powers_) each.push_back(power.sum / static_cast<double>(power.groups));
  return at::stack(each, 1);
}

}  // namespace harmonium
