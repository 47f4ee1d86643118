#include "harmonium/models/directed/rbm_prior.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/distributions/bernoulli.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

namespace {

constexpr int prior_draw_bits = 16;  // enumerated for every call of draw(), in a fraction of a second

at::Tensor draw_bits(const Key& key, const at::Tensor& log_odds) {
  return BernoulliDistribution(log_odds.size(1)).sample(key, log_odds.contiguous());
}

}  // namespace

RbmPrior::RbmPrior(std::int64_t latents, std::int64_t hidden, at::ScalarType type)
    : machine_(make_rbm(format("bernoulli:{}", latents), format("bernoulli:{}", hidden), type)) {}

void RbmPrior::declare(Moments& parameters) const {
  for (const auto& [name, value] : machine_.parameters().entries())
    parameters.insert(prefix() + name, at::zeros_like(value));
}

BoltzmannMachine RbmPrior::machine(const Moments& parameters) const {
  Moments own;
  for (const auto& [name, value] : machine_.parameters().entries()) own.insert(name, parameters[prefix() + name]);
  return machine_.with_parameters(std::move(own));
}

at::Tensor RbmPrior::log_f(const Moments& parameters, const at::Tensor& latents) const {
  const Moments own = machine(parameters).parameters();
  const at::Tensor field = latents.matmul(own["visible_hidden.weights"]) + own["hidden.bias"];
  return (latents * own["visible.bias"]).sum(-1, /*keepdim=*/false, at::kDouble) +
         at::softplus(field).sum(-1, /*keepdim=*/false, at::kDouble);
}

bool RbmPrior::draws_exactly() const { return can_enumerate(machine_, prior_draw_bits); }

at::Tensor RbmPrior::draw(const Moments& parameters, std::int64_t count, const Key& key, std::int64_t sweeps) const {
  require(sweeps >= 1, "chains of a prior need at least one sweep, not {}", sweeps);
  const c10::NoGradGuard without_gradient;
  const BoltzmannMachine there = machine(parameters);
  const at::Tensor &visible_bias = there.parameters()["visible.bias"], &hidden_bias = there.parameters()["hidden.bias"],
                   &weights = there.parameters()["visible_hidden.weights"];
  const auto visible_of = [&](const at::Tensor& hidden, const Key& own) {
    return draw_bits(own, hidden.matmul(weights.t()) + visible_bias);
  };
  if (count == 0) return at::zeros({0, visible_bias.size(0)}, visible_bias.options());
  if (draws_exactly()) {
    const BoltzmannMachine precise = there.precise_on_cpu();
    const EnumerationPlan plan = plan_enumeration(precise, prior_draw_bits);
    std::vector<at::Tensor> parts;
    for_each_state(precise, plan, [&](const State&, const at::Tensor& log_weight) { parts.push_back(log_weight); });
    const at::Tensor upto = at::cat(parts).softmax(0).cumsum(0);
    const at::Tensor u = uniform(key.fold_in(0), {count}, at::kDouble) * upto[-1];
    const at::Tensor numbers = at::searchsorted(upto, u, false, /*right=*/true).clamp_max(upto.size(0) - 1);
    const State drawn = enumerated_states(precise, plan, numbers);
    const std::size_t layer = plan.enumerated.front();
    const at::Tensor values = drawn.layers[layer].to(visible_bias.options());
    return layer == 0 ? values : visible_of(values, key.fold_in(1));
  }
  at::Tensor latents = draw_bits(key.fold_in(0), visible_bias.expand({count, visible_bias.size(0)}));
  for (std::int64_t sweep = 1; sweep <= sweeps; ++sweep) {
    const Key own = key.fold_in(static_cast<std::uint64_t>(sweep));
    latents = visible_of(draw_bits(own.fold_in(0), latents.matmul(weights) + hidden_bias), own.fold_in(1));
  }
  return latents;
}

}  // namespace harmonium
