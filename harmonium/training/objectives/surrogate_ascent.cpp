#include "harmonium/training/objectives/surrogate_ascent.h"

#include <c10/core/GradMode.h>

#include <optional>

#include "harmonium/core/device.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/training/loss_gradient.h"

namespace harmonium {

SurrogateAscent::SurrogateAscent(Moments parameters, std::vector<ParameterGroup> groups, std::string name,
                                 Function function, Kept kept)
    : parameters_(std::move(parameters)),
      groups_(std::move(groups)),
      function_(std::move(function)),
      kept_(std::move(kept)),
      mean_(std::move(name), parameters_.entries().front().second) {}

Moments SurrogateAscent::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  const c10::AutoGradMode with_gradient(true);
  std::optional<FastProducts> fast;
  if (device_precision() == Precision::fast) fast.emplace(mean_.device());
  at::Tensor shown;
  LossGradient found = loss_gradient(parameters_, [&](const Moments& leaves) {
    Value value = function_(leaves, batch, step);
    shown = value.shown.detach();
    return value.climbed;
  });
  mean_.add(shown);
  return std::move(found.gradient);
}

NamedTensors SurrogateAscent::state() const {
  NamedTensors all = {{"objective", mean_.state()}};
  if (kept_.state)
    for (auto& each : kept_.state()) all.push_back(each);
  return all;
}

void SurrogateAscent::restore(const NamedTensors& saved) {
  mean_.restore(find_tensor(saved, "objective", "a checkpoint"));
  if (kept_.restore) kept_.restore(saved);
}

}  // namespace harmonium
