#include "harmonium/samplers/rates_fpcd.h"

#include "harmonium/core/error.h"

namespace harmonium {

RatesFpcd::RatesFpcd(const BoltzmannMachine& machine, const Moments& target, State start,
                     const RatesFpcdOptions& options)
    : machine_(machine),
      target_(target.to(machine.options())),
      options_(options),
      state_(std::move(start)),
      pulled_(machine) {
  (void)(target_ - machine_.parameters());  // refuses other names and shapes
  for (const EdgeInfo& edge : machine_.topology().edges)
    require(!edge.inner(),
            "rates-FPCD updates a whole layer at once, which is wrong with edges inside a layer ({}); use gibbs or "
            "parallel_tempering",
            edge.weights);
  require(options_.fast_rate >= 0, "rates-FPCD: the fast rate must be at least 0, not {}", options_.fast_rate);
  require(options_.fast_decay >= 0 && options_.fast_decay < 1,
          "rates-FPCD: the fast decay must be at least 0 and below 1, not {}", options_.fast_decay);
  require(state_.layers.size() == machine_.layers().size() && state_.rows() >= 1,
          "rates-FPCD needs chains with a state of every layer");
  for (std::size_t layer = 0; layer < state_.layers.size(); ++layer)
    require(state_.layers[layer].defined(), "rates-FPCD needs a state of layer '{}'", machine_.layers()[layer].name);
  const auto add = [&](const std::string& name) {
    std::vector<std::int64_t> shape = machine_.parameters()[name].sizes().vec();
    shape.insert(shape.begin(), state_.rows());
    shunned_.insert(name, at::zeros(shape, machine_.options()));
  };
  for (const LayerInfo& layer : machine_.topology().layers) add(layer.parameters.front());
  for (const EdgeInfo& edge : machine_.topology().edges) add(edge.weights);
}

at::Tensor RatesFpcd::field(std::size_t layer) const {
  at::Tensor total = pulled_.field(layer, state_) - shunned_[machine_.topology().layers[layer].parameters.front()];
  for (const EdgeInfo& edge : machine_.topology().edges) {
    const at::Tensor weights = shunned_[edge.weights];
    if (edge.upper == layer) total.sub_(at::bmm(state_.layers[edge.lower].unsqueeze(1), weights).squeeze(1));
    if (edge.lower == layer) total.sub_(at::bmm(weights, state_.layers[edge.upper].unsqueeze(2)).squeeze(2));
  }
  return total;
}

const State& RatesFpcd::step(const Key& key) {
  const Key sweep_key = key.fold_in(0);
  Fields last;
  for (const LayerSet& block : machine_.blocks()) {
    last.assign(machine_.layers().size(), {});
    for (const std::size_t layer : block) last[layer] = field(layer);
    for (const std::size_t layer : block)
      state_.layers[layer] =
          machine_.unit(layer).sample(sweep_key.fold_in(layer), last[layer], machine_.layer_parameters(layer));
  }
  shun(last);
  return state_;
}

void RatesFpcd::shun(const Fields& drawn_last) {
  std::vector<at::Tensor> seen;
  for (std::size_t layer = 0; layer < state_.layers.size(); ++layer)
    seen.push_back(drawn_last[layer].defined()
                       ? machine_.unit(layer).mean(drawn_last[layer], machine_.layer_parameters(layer))
                       : state_.layers[layer]);
  const double rate = options_.fast_rate;
  shunned_.mul_(options_.fast_decay);
  for (std::size_t layer = 0; layer < seen.size(); ++layer)
    shunned_[machine_.topology().layers[layer].parameters.front()].add_(seen[layer], rate);
  for (const EdgeInfo& edge : machine_.topology().edges)
    shunned_[edge.weights].addcmul_(seen[edge.lower].unsqueeze(2), seen[edge.upper].unsqueeze(1), rate);
  pull_ = options_.fast_decay * pull_ + rate;
  Moments parameters = machine_.parameters().clone();
  for (const auto& [name, ignored] : shunned_.entries()) parameters[name].add_(target_[name], pull_);
  pulled_ = machine_.with_parameters(std::move(parameters));
}

Moments RatesFpcd::overlay(std::int64_t chain) const {
  Moments result = machine_.parameters().zeros_like();
  for (const auto& [name, value] : shunned_.entries()) result[name] = pull_ * target_[name] - value[chain];
  return result;
}

}  // namespace harmonium
