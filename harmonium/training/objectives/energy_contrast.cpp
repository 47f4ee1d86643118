#include "harmonium/training/objectives/energy_contrast.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

const std::string fast_prefix = "fast.";

}  // namespace

EnergyContrast::EnergyContrast(std::shared_ptr<const FreeEnergyModel> model, Moments theta,
                               const EnergyContrastOptions& options, const Key& key)
    : model_(std::move(model)), theta_(std::move(theta)), options_(options), sums_(at::zeros({6}, at::kDouble)) {
  require(options_.particles >= 1 && options_.leapfrog >= 1,
          "chains that move by HMC: give at least one chain and one leapfrog step, not {} and {}", options_.particles,
          options_.leapfrog);
  require(options_.acceptance > 0 && options_.acceptance < 1,
          "@acceptance {}: give a share between 0 and 1 of trajectories to accept", options_.acceptance);
  require(!options_.gibbs || model_->has_gibbs(), "this model has no exact Gibbs sampling; use @moves hmc");
  if (options_.fast_rate > 0) overlay_ = theta_.zeros_like();
  chains_ = model_->base_draws(theta_, key, options_.particles);
}

Moments EnergyContrast::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  const at::Tensor data = batch.front().to(chains_.options());
  Moments fast;
  if (!overlay_.empty()) {
    fast = theta_ + overlay_;
    model_->constrain_(fast);
  }
  const Moments& theirs = overlay_.empty() ? theta_ : fast;
  const HmcOutcome moved = move(theirs, step.key);
  Moments gradient = model_->moments(data, theta_);
  gradient.add_(model_->moments(chains_, theirs), -1);
  if (!overlay_.empty()) {
    overlay_.mul_(options_.fast_decay);
    overlay_.add_(gradient, options_.fast_rate);
  }
  const double gap = (model_->log_f(data, theta_).mean() - model_->log_f(chains_, theta_).mean()).item<double>();
  const auto length = [](const at::Tensor& v) { return v.square().sum(1).mean().to(at::kDouble).item<double>(); };
  sums_ += at::tensor({1.0, gap, moved.accepted, static_cast<double>(moved.divergences), length(chains_), length(data)},
                      at::kDouble);
  return gradient;
}

HmcOutcome EnergyContrast::move(const Moments& theta, const Key& key) {
  if (options_.gibbs) {
    model_->gibbs_(chains_, theta, key);
    return {.accepted = 1, .divergences = 0, .energy_change = {}};
  }
  HmcOutcome moved = hmc(hmc_target(*model_, theta), chains_, step_.step, options_.leapfrog, key);
  step_.observe(moved.accepted, options_.acceptance);
  return moved;
}

std::map<std::string, double> EnergyContrast::take_measurements() {
  const auto sum = [&](std::int64_t i) { return sums_[i].item<double>(); };
  const double updates = sum(0);
  if (updates == 0) return {};
  std::map<std::string, double> found = {{"log_f_gap", sum(1) / updates},
                                         {"chain_scale", sum(4) / std::max(sum(5), 1e-300)}};
  if (!options_.gibbs) {
    found["hmc_acceptance"] = sum(2) / updates;
    found["hmc_step"] = step_.step;
    found["hmc_divergences"] = sum(3);
  }
  sums_.zero_();
  return found;
}

std::string EnergyContrast::advice() const {
  return options_.gibbs ? Objective::advice() : format("{}, or use more leapfrog steps", Objective::advice());
}

NamedTensors EnergyContrast::state() const {
  NamedTensors saved = {
      {"chains", chains_}, {"hmc_step", at::tensor({step_.step, step_.acceptance}, at::kDouble)}, {"hmc_sums", sums_}};
  for (const auto& [name, value] : overlay_.entries()) saved.emplace_back(fast_prefix + name, value);
  return saved;
}

void EnergyContrast::restore(const NamedTensors& saved) {
  const at::Tensor &chains = find_tensor(saved, "chains", "a checkpoint"),
                   &step = find_tensor(saved, "hmc_step", "a checkpoint"),
                   &sums = find_tensor(saved, "hmc_sums", "a checkpoint");
  require(chains.sizes() == chains_.sizes() && step.numel() == 2 && sums.sizes() == sums_.sizes(),
          "the chains of the checkpoint are {} numbers, not those of {} chains of {} values", chains.numel(),
          chains_.size(0), chains_.size(1));
  chains_ = chains.to(chains_.options()).clone();
  step_.step = step[0].item<double>();
  step_.acceptance = step[1].item<double>();
  sums_ = sums.to(at::kDouble).clone();
  for (const auto& [name, value] : overlay_.entries()) {
    const at::Tensor& theirs = find_tensor(saved, fast_prefix + name, "a checkpoint");
    require(theirs.sizes() == value.sizes(), "the fast weights of {} in the checkpoint are those of another shape",
            name);
    at::Tensor target = value;
    target.copy_(theirs);
  }
}

}  // namespace harmonium
