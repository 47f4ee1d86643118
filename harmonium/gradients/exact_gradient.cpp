#include "harmonium/gradients/exact_gradient.h"

#include <cmath>
#include <limits>

#include "harmonium/core/format.h"
#include "harmonium/models/split_enumeration.h"

namespace harmonium {

namespace {

// Of a machine without units to sum out: second moments of all units by products of the two halves of the states.
// x = x₀ + a + b with a low and b high deviation; with weights w of the pairs (b, a) everything follows from their row
// sums, column sums and Σ w a bᵀ.
Moments moments_by_halves(const BoltzmannMachine& machine, const EnumerationPlan& plan) {
  const SplitEnumeration states(machine, plan);
  const at::Tensor &low = states.low_deviation(), &zero = states.zero();
  double peak = -std::numeric_limits<double>::infinity(), total = 0;
  at::Tensor low_weight = at::zeros({low.size(0)}, at::kDouble), cross = at::zeros_like(low),
             high_sum = at::zeros_like(zero), high_square = at::zeros({low.size(1), low.size(1)}, at::kDouble);
  states.for_each([&](std::int64_t first, const at::Tensor& log_weight) {
    const double highest = log_weight.max().item<double>();
    if (highest > peak) {
      const double rescale = std::exp(peak - highest);
      for (const at::Tensor& sum : {low_weight, cross, high_sum, high_square}) at::Tensor(sum).mul_(rescale);
      total *= rescale;
      peak = highest;
    }
    const at::Tensor weight = (log_weight - peak).exp(), high = states.high_deviation(first, weight.size(0));
    const at::Tensor high_weight = weight.sum(1);
    total += high_weight.sum().item<double>();
    low_weight += weight.sum(0);
    cross.addmm_(weight.t(), high);
    high_sum += high_weight.unsqueeze(0).mm(high);
    high_square.addmm_((high * high_weight.unsqueeze(1)).t(), high);
  });
  const at::Tensor low_sum = low_weight.unsqueeze(0).mm(low), mixed = low.t().mm(cross);
  const at::Tensor deviation = (low_sum + high_sum) / total;
  const at::Tensor square = ((low * low_weight.unsqueeze(1)).t().mm(low) + mixed + mixed.t() + high_square) / total;
  const at::Tensor mean = zero + deviation;
  const at::Tensor second = zero.t().mm(mean) + deviation.t().mm(zero) + square;
  Moments result;
  std::vector<std::int64_t> begin;
  for (std::int64_t at = 0; const std::size_t layer : plan.enumerated) {
    begin.push_back(at);
    result.insert(machine.topology().layers[layer].parameters[0], mean[0].narrow(0, at, machine.unit(layer).width()));
    at += machine.unit(layer).width();
  }
  for (const EdgeInfo& edge : machine.topology().edges)
    result.insert(edge.weights, edge.masked(second.narrow(0, begin[edge.lower], machine.unit(edge.lower).width())
                                                .narrow(1, begin[edge.upper], machine.unit(edge.upper).width())));
  return result;
}

}  // namespace

Moments exact_moments(const BoltzmannMachine& machine, int max_bits) {
  const BoltzmannMachine precise = machine.precise_on_cpu();
  const EnumerationPlan plan = plan_enumeration(precise, max_bits);
  if (plan.summed.empty()) return moments_by_halves(precise, plan);
  // One pass with a running maximum: sums are kept relative to e^peak and rescaled when a higher weight appears.
  double peak = -std::numeric_limits<double>::infinity(), total = 0;
  Moments sum = precise.parameters().zeros_like();
  for_each_state(precise, plan, [&](const State& state, const at::Tensor& log_weight) {
    const double highest = log_weight.max().item<double>();
    if (highest > peak) {
      const double rescale = std::exp(peak - highest);
      sum.mul_(rescale);
      total *= rescale;
      peak = highest;
    }
    const at::Tensor weight = (log_weight - peak).exp();
    total += weight.sum().item<double>();
    sum.add_(precise.moments(state, precise.fields(plan.summed, state), weight));
  });
  return sum.mul_(1 / total);
}

Moments ExactGradient::model_moments(const BoltzmannMachine& machine, const State&, const Key&) {
  return exact_moments(machine).to(machine.options());
}

std::string ExactGradient::complaint(const BoltzmannMachine& machine) const {
  if (const std::string lengths = complaint_about_lengths(machine); !lengths.empty()) return lengths;
  if (const std::string imitated = complaint_about_imitations(machine); !imitated.empty()) return imitated;
  if (can_enumerate(machine)) return {};
  return format("visits every state of the smaller side, at most 2^{}, and this model has more", enumeration_bits);
}

}  // namespace harmonium
