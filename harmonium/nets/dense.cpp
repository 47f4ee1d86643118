#include "harmonium/nets/dense.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

Dense::Dense(std::string prefix, std::vector<std::int64_t> widths, Activation hidden)
    : prefix_(std::move(prefix)), widths_(std::move(widths)), hidden_(hidden) {
  require(widths_.size() >= 2, "the net '{}' needs a number of inputs and one of outputs", prefix_);
  for (std::size_t i = 0; i < widths_.size(); ++i)
    require(widths_[i] >= 1, "layer {} of the net '{}' has {} units; every layer needs at least one", i, prefix_,
            widths_[i]);
}

std::string Dense::weights_name(std::size_t layer) const { return format("{}layer{}.weights", prefix_, layer + 1); }
std::string Dense::bias_name(std::size_t layer) const { return format("{}layer{}.bias", prefix_, layer + 1); }

void Dense::declare(Moments& parameters, at::ScalarType type) const {
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
    parameters.insert(weights_name(i), at::zeros({widths_[i], widths_[i + 1]}, type));
    parameters.insert(bias_name(i), at::zeros({widths_[i + 1]}, type));
  }
}

void Dense::initialize(Moments& parameters, const Key& key) const {
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
    at::Tensor& weights = parameters[weights_name(i)];
    const double bound = std::sqrt(6.0 / static_cast<double>(widths_[i] + widths_[i + 1]));
    weights.copy_(uniform(key.fold_in(i), weights.sizes(), weights.options()).mul_(2 * bound).sub_(bound));
    parameters[bias_name(i)].zero_();
  }
}

at::Tensor Dense::forward(const Moments& parameters, const at::Tensor& input) const {
  require(input.dim() >= 1 && input.size(-1) == inputs(), "the net '{}' takes rows of {} values, not of {}", prefix_,
          inputs(), input.dim() >= 1 ? input.size(-1) : 0);
  at::Tensor values = input.reshape({-1, inputs()});  // one product, however many dimensions lead
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
    if (i > 0) values = activate(hidden_, values);
    values = at::addmm(parameters[bias_name(i)], values, parameters[weights_name(i)]);
  }
  std::vector<std::int64_t> shape = input.sizes().vec();
  shape.back() = outputs();
  return values.reshape(shape);
}

}  // namespace harmonium
