#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

Ascent::Ascent(Moments parameters, std::vector<ParameterGroup> groups, std::string name, Function function)
    : parameters_(std::move(parameters)),
      groups_(std::move(groups)),
      name_(std::move(name)),
      function_(std::move(function)),
      sum_(at::zeros({}, parameters_.entries().front().second.options().dtype(at::kDouble))) {}

Moments Ascent::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  Climb found = function_(batch, step.key);
  sum_ += found.value.to(at::kDouble);
  ++count_;
  return std::move(found.gradient);
}

std::map<std::string, double> Ascent::take_measurements() {
  if (count_ == 0) return {};
  const double mean = sum_.item<double>() / static_cast<double>(count_);
  sum_.zero_();
  count_ = 0;
  return {{name_, mean}};
}

NamedTensors Ascent::state() const {
  return {{"objective", at::tensor({sum_.item<double>(), static_cast<double>(count_)}, at::kDouble)}};
}

void Ascent::restore(const NamedTensors& saved) {
  const at::Tensor both = find_tensor(saved, "objective", "a checkpoint");
  sum_.fill_(both[0].item<double>());
  count_ = both[1].item<std::int64_t>();
}

}  // namespace harmonium
