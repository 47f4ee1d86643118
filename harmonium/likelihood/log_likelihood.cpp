#include "harmonium/likelihood/log_likelihood.h"

#include <algorithm>

#include "harmonium/gradients/mean_field.h"

namespace harmonium {

at::Tensor log_unnormalized(const BoltzmannMachine& machine, const State& data) {
  constexpr std::int64_t block = 4096;
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first < data.rows(); first += block) {
    State rows = data;
    for (at::Tensor& layer : rows.layers)
      if (layer.defined()) layer = layer.narrow(0, first, std::min(block, data.rows() - first));
    parts.push_back(machine.hidden_joined() ? variational_bound(machine, infer(machine, rows))
                                            : machine.log_sum_out(rows, machine.hidden()));
  }
  return at::cat(parts);
}

Estimate log_likelihood(double mean_log_unnormalized, const Estimate& log_z) {
  Estimate result = log_z;
  result.value = mean_log_unnormalized - log_z.value;
  result.low = mean_log_unnormalized - log_z.high;
  result.high = mean_log_unnormalized - log_z.low;
  switch (log_z.kind) {
    case EstimateKind::exact:
      break;
    case EstimateKind::lower_bound:
      result.kind = EstimateKind::upper_bound;
      break;
    case EstimateKind::upper_bound:
      result.kind = EstimateKind::lower_bound;
      break;
    default:
      result.kind = EstimateKind::estimate;
  }
  return result;
}

}  // namespace harmonium
