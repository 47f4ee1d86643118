#include "harmonium/likelihood/running_log_z.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/annealing_path.h"
#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/schedule.h"

namespace harmonium {

namespace {

const std::string running_prefix = "running_log_z/";

}  // namespace

RunningLogZ::RunningLogZ(const BaseModel& base, std::int64_t chains, const Key& key)
    : at_(base.machine().with_parameters(base.machine().parameters().clone())),
      chains_(base.draw(key.fold_in(0), chains)),
      kept_(walked_layers(at_).kept),
      log_weights_(at::zeros({chains}, at_.options(at::kDouble))),
      log_z_(base.log_z()),
      fewest_effective_(static_cast<double>(chains)),
      key_(key.fold_in(1)) {
  require(chains >= 2, "following log Z needs at least two chains, not {}", chains);
}

void RunningLogZ::go_to(const BoltzmannMachine& machine, std::int64_t steps) {
  require(steps >= 1, "annealing needs at least one step, not {}", steps);
  const BoltzmannMachine target = machine.with_parameters(machine.parameters().clone());
  const AnnealingPath path({at_, "the model before", log_z_}, {target}, linear_schedule(steps));
  const Key key = key_.fold_in(static_cast<std::uint64_t>(++looks_));
  for (std::int64_t step = 1; step <= steps; ++step)
    path.move(chains_, step - 1, step, key.fold_in(static_cast<std::uint64_t>(step)), log_weights_);
  at_ = target;
  const double effective = effective_sample_size(on_cpu(log_weights_)), all = static_cast<double>(log_weights_.size(0));
  fewest_effective_ = std::min(fewest_effective_, effective);
  if (effective < all / 2) resample();
}

double RunningLogZ::log_z() const { return log_z_ + log_mean_exp(on_cpu(log_weights_)); }

void RunningLogZ::resample() {
  log_z_ = log_z();
  const at::Tensor weights = at::softmax(on_cpu(log_weights_), 0);
  const std::int64_t count = weights.size(0);
  // One uniform number for all: chain i is taken once for every point (u + k) / count within its share.
  const Key key = key_.fold_in(0).fold_in(static_cast<std::uint64_t>(looks_));
  const at::Tensor points =
      (at::arange(count, at::kDouble) + uniform(key, {1}, at::kDouble)) / static_cast<double>(count);
  const at::Tensor chosen = at::searchsorted(weights.cumsum(0), points).clamp_max(count - 1).to(log_weights_.device());
  for (const std::size_t layer : kept_) chains_.layers[layer] = chains_.layers[layer].index_select(0, chosen);
  log_weights_.zero_();
}

NamedTensors RunningLogZ::state() const {
  NamedTensors all = {{"log_weights", log_weights_},
                      {"log_z", at::full({1}, log_z_, at::kDouble)},
                      {"fewest_effective", at::full({1}, fewest_effective_, at::kDouble)},
                      {"looks", at::full({1}, looks_, at::kLong)}};
  for (const std::size_t layer : kept_) all.emplace_back(format("layer{}", layer), chains_.layers[layer]);
  for (const auto& entry : with_prefix("parameters/", at_.parameters().entries())) all.push_back(entry);
  return with_prefix(running_prefix, all);
}

void RunningLogZ::restore(const NamedTensors& tensors) {
  const NamedTensors own = under_prefix(running_prefix, tensors);
  const auto get = [&](const std::string& name) { return find_tensor(own, name, "the estimate of log Z"); };
  log_weights_ = get("log_weights").to(at_.device()).clone();
  log_z_ = get("log_z").item<double>();
  fewest_effective_ = get("fewest_effective").item<double>();
  looks_ = get("looks").item<std::int64_t>();
  for (const std::size_t layer : kept_) chains_.layers[layer] = get(format("layer{}", layer)).to(at_.device()).clone();
  copy_moments(at_.parameters(), under_prefix("parameters/", own), "the estimate of log Z");
}

}  // namespace harmonium
