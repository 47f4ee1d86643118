#include "harmonium/training/objectives/running_mean.h"

#include <ATen/ATen.h>

namespace harmonium {

RunningMean::RunningMean(std::string name, const at::Tensor& like)
    : name_(std::move(name)), sum_(at::zeros({}, like.options().dtype(at::kDouble))) {}

void RunningMean::add(const at::Tensor& value) {
  sum_ += value.to(at::kDouble);
  ++count_;
}

std::map<std::string, double> RunningMean::take() {
  if (count_ == 0) return {};
  const double mean = sum_.item<double>() / static_cast<double>(count_);
  sum_.zero_();
  count_ = 0;
  return {{name_, mean}};
}

at::Tensor RunningMean::state() const {
  return at::tensor({sum_.item<double>(), static_cast<double>(count_)}, at::kDouble);
}

void RunningMean::restore(const at::Tensor& saved) {
  sum_.fill_(saved[0].item<double>());
  count_ = saved[1].item<std::int64_t>();
}

}  // namespace harmonium
