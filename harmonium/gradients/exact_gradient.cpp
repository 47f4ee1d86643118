#include "harmonium/gradients/exact_gradient.h"

#include <cmath>
#include <limits>

namespace harmonium {

Moments exact_moments(const BoltzmannMachine& machine, int max_bits) {
  const BoltzmannMachine precise = machine.to(at::kDouble);
  const EnumerationPlan plan = plan_enumeration(precise, max_bits);
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
  return exact_moments(machine).to(machine.scalar_type());
}

}  // namespace harmonium
