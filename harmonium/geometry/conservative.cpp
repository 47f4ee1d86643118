#include "harmonium/geometry/conservative.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace harmonium {

namespace {

constexpr std::int64_t settled = 1000;  // updates after which the saturation is found for good
constexpr double high_start = 100, floor_of_squares = 1e-30;

// Over all entries, of numbers that are not 0.
at::Tensor median_of(const std::vector<at::Tensor>& values) {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& each : values) flat.push_back(each.reshape({-1}));
  const at::Tensor all = at::cat(flat), some = all.masked_select(all.gt(0));
  return some.numel() == 0 ? at::zeros({}, all.options()) : some.median();
}

}  // namespace

Conservative::Conservative(std::vector<ParameterGroup> groups, const Moments& shape, Rules rules)
    : groups_(std::move(groups)),
      rules_(rules),
      fast_(shape.zeros_like()),
      slow_(shape.zeros_like()),
      begun_(shape.map([](const at::Tensor& value) { return at::zeros({}, value.options()); })),
      saturation_(at::full({}, rules.saturation, shape.entries().front().second.options())) {}

void Conservative::observe_squares(const std::string& name, const at::Tensor& square) {
  static const double of_fast = std::exp(-3.0), of_slow = std::exp(-6.0);  // 1/γ
  at::Tensor &fast = fast_[name], &slow = slow_[name], &begun = begun_[name];
  // As a product, so that nobody waits for a device.
  const at::Tensor start = (1 - begun) * (high_start * square.mean());
  fast.add_(start).mul_(1 - of_fast).add_(square, of_fast);
  slow.add_(start).mul_(1 - of_slow).add_(square, of_slow);
  begun.fill_(1);
}

void Conservative::choose_saturation(const Moments& gradient, std::int64_t update) {
  if (rules_.saturation > 0 || (update != 0 && update != settled)) return;
  std::vector<at::Tensor> sizes;
  for (const auto& [name, g] : gradient.entries()) sizes.push_back(update == 0 ? g.abs() : fast_[name].sqrt());
  saturation_.copy_(median_of(sizes));
}

at::Tensor Conservative::steps(const std::string& name, const at::Tensor& size) const {
  constexpr double never = std::numeric_limits<float>::max();
  const at::Tensor square =
      at::maximum(at::maximum(fast_[name], slow_[name]), size.square()).clamp_min(floor_of_squares);
  const at::Tensor all_alike = at::full_like(size, rules_.largest);
  return at::stack({all_alike, rules_.plain > 0 ? size * rules_.plain : at::full_like(size, never),
                    size / square.sqrt(), saturation_ * size / square});
}

Direction Conservative::direction(const Moments& gradient, std::int64_t update) {
  for (const auto& [name, g] : gradient.entries()) observe_squares(name, g.square());
  choose_saturation(gradient, update);
  Moments found;
  for (const auto& [name, g] : gradient.entries()) found.insert(name, g.sign() * steps(name, g.abs()).amin(0));
  last_ = gradient;
  return without_split(groups_, found);
}

std::map<std::string, double> Conservative::measurements() const {
  if (last_.empty()) return {};
  constexpr std::int64_t rules = 4;
  at::Tensor counts = at::zeros({rules}, at::kDouble);
  for (const auto& [name, g] : last_.entries()) {
    const at::Tensor ruling = steps(name, g.abs()).argmin(0).masked_select(g.ne(0));
    counts += at::bincount(ruling.cpu(), {}, rules).to(at::kDouble);
  }
  const double moving = std::max(1.0, counts.sum().item<double>());
  std::map<std::string, double> found = {{"saturation", saturation_.item<double>()}};
  for (std::int64_t rule = 0; rule < rules; ++rule)
    found["rule" + std::to_string(rule + 1)] = counts[rule].item<double>() / moving;
  return found;
}

NamedTensors Conservative::state() const {
  NamedTensors tensors = {{"saturation", saturation_}};
  for (const auto& [prefix, moments] :
       {std::pair("fast/", &fast_), std::pair("slow/", &slow_), std::pair("begun/", &begun_)})
    for (auto& entry : with_prefix(prefix, moments->entries())) tensors.push_back(std::move(entry));
  return tensors;
}

void Conservative::restore(const NamedTensors& tensors) {
  saturation_.copy_(find_tensor(tensors, "saturation", "the conservative optimizer"));
  copy_moments(fast_, under_prefix("fast/", tensors), "fast averages of squared gradients");
  copy_moments(slow_, under_prefix("slow/", tensors), "slow averages of squared gradients");
  copy_moments(begun_, under_prefix("begun/", tensors), "which averages have begun");
  last_ = {};
}

}  // namespace harmonium
