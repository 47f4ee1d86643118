#include "harmonium/training/adam.h"

#include <cmath>

namespace harmonium {

namespace {

constexpr double first_decay = 0.9, second_decay = 0.999, floor_of_sizes = 1e-8;

}  // namespace

Moments Adam::direction(const Moments& gradient, std::int64_t update) {
  const auto t = static_cast<double>(update + 1);
  const double first_seen = 1 - std::pow(first_decay, t), second_seen = 1 - std::pow(second_decay, t);
  Moments result;
  for (const auto& [name, g] : gradient.entries()) {
    at::Tensor& m = first_[name];
    at::Tensor& v = second_[name];
    m.mul_(first_decay).add_(g, 1 - first_decay);
    v.mul_(second_decay).addcmul_(g, g, 1 - second_decay);
    const at::Tensor size = v.sqrt().mul_(1 / std::sqrt(second_seen)).add_(floor_of_sizes);
    result.insert(name, at::div(m, size).mul_(1 / first_seen));
  }
  return result;
}

NamedTensors Adam::state() const {
  NamedTensors tensors = with_prefix("first/", first_.entries());
  for (auto& entry : with_prefix("second/", second_.entries())) tensors.push_back(std::move(entry));
  return tensors;
}

void Adam::restore(const NamedTensors& tensors) {
  copy_moments(first_, under_prefix("first/", tensors), "averages of gradients");
  copy_moments(second_, under_prefix("second/", tensors), "averages of squared gradients");
}

}  // namespace harmonium
