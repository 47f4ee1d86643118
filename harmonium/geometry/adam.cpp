#include "harmonium/geometry/adam.h"

#include <cmath>

#include "harmonium/kernels/adam_loop.h"

namespace harmonium {

namespace {

constexpr double first_decay = 0.9, second_decay = 0.999, floor_of_sizes = 1e-8;

}  // namespace

Direction Adam::direction(const Moments& gradient, std::int64_t update) {
  const auto t = static_cast<double>(update + 1);
  const AdamFactors factors{.first_decay = first_decay,
                            .second_decay = second_decay,
                            .first_scale = 1 / (1 - std::pow(first_decay, t)),
                            .second_scale = 1 / std::sqrt(1 - std::pow(second_decay, t)),
                            .floor = floor_of_sizes};
  Moments found;
  std::vector<AdamTensors> parameters;
  for (const auto& [name, g] : gradient.entries()) {
    parameters.push_back({g, first_[name], second_[name], direction_[name]});
    found.insert(name, direction_[name]);
  }
  adam_directions(parameters, factors);
  return without_split(groups_, found);
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
