#include "harmonium/units/linked_groups.h"

#include <ATen/ATen.h>

#include <vector>

namespace harmonium {

at::Tensor digits_in_base(const at::Tensor& numbers, std::int64_t base, std::int64_t count) {
  std::vector<at::Tensor> digits;
  at::Tensor rest = numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    digits.push_back(at::remainder(rest, base));
    rest = at::floor_divide(rest, base);
  }
  return at::stack(digits, 1);
}

at::Tensor group_covariance(at::Tensor second, const at::Tensor& p, const at::Tensor& weights, std::int64_t size) {
  const at::Tensor scaled =
      weights.defined() ? p * weights.to(p.scalar_type()).unsqueeze(1) : p / static_cast<double>(p.size(0));
  for (std::int64_t first = 0; first < p.size(1); first += size)
    second.narrow(0, first, size)
        .narrow(1, first, size)
        .sub_(scaled.narrow(1, first, size).t().mm(p.narrow(1, first, size)));
  return second;
}

}  // namespace harmonium
