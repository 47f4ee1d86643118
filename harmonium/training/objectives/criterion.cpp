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
      mean_("loss", parameters_.entries().front().second) {}

Moments Criterion::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  std::optional<FastProducts> fast;
  if (device_precision() == Precision::fast) fast.emplace(mean_.device());
  LossGradient found =
      loss_gradient(parameters_, [&](const Moments& leaves) { return loss_(leaves, batch, step.key); });
  mean_.add(found.loss);
  return std::move(found.gradient.mul_(-1));  // steps climb
}

void Criterion::restore(const NamedTensors& saved) {
  mean_.restore(find_tensor(saved, "loss", "a checkpoint of a net"));
}

}  // namespace harmonium
