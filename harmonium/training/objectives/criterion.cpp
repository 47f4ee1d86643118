#include "harmonium/training/objectives/criterion.h"

#include <optional>

#include "harmonium/core/device.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/training/loss_gradient.h"

namespace harmonium {

Criterion::Criterion(Moments parameters, std::vector<ParameterGroup> groups, MeanLoss loss)
    : parameters_(std::move(parameters)),
      groups_(std::move(groups)),
      loss_(std::move(loss)),
      loss_sum_(at::zeros({}, parameters_.entries().front().second.options().dtype(at::kDouble))) {}

Moments Criterion::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  std::optional<FastProducts> fast;
  if (device_precision() == Precision::fast) fast.emplace(loss_sum_.device());
  LossGradient found =
      loss_gradient(parameters_, [&](const Moments& leaves) { return loss_(leaves, batch, step.key); });
  loss_sum_ += found.loss.to(at::kDouble);
  ++loss_count_;
  return std::move(found.gradient.mul_(-1));  // steps climb
}

std::map<std::string, double> Criterion::take_measurements() {
  if (loss_count_ == 0) return {};
  const double mean = loss_sum_.item<double>() / static_cast<double>(loss_count_);
  loss_sum_.zero_();
  loss_count_ = 0;
  return {{"loss", mean}};
}

NamedTensors Criterion::state() const {
  return {{"loss", at::tensor({loss_sum_.item<double>(), static_cast<double>(loss_count_)}, at::kDouble)}};
}

void Criterion::restore(const NamedTensors& saved) {
  const at::Tensor loss = find_tensor(saved, "loss", "a checkpoint of a net");
  loss_sum_.fill_(loss[0].item<double>());
  loss_count_ = loss[1].item<std::int64_t>();
}

}  // namespace harmonium
