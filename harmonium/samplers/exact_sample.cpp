#include "harmonium/samplers/exact_sample.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

State exact_sample(const BoltzmannMachine& machine, const Key& key, std::int64_t rows, int max_bits) {
  require(rows >= 1, "exact sampling needs at least one row, not {}", rows);
  if (!machine.device().is_cpu()) {
    State drawn = exact_sample(machine.to(at::kCPU), key, rows, max_bits);
    for (at::Tensor& layer : drawn.layers) layer = layer.to(machine.device());
    return drawn;
  }
  const BoltzmannMachine precise = machine.to(at::kDouble);
  const EnumerationPlan plan = plan_enumeration(precise, max_bits);
  std::vector<at::Tensor> chunk_sums;
  for_each_state(precise, plan, [&](const State&, const at::Tensor& log_weight) {
    chunk_sums.push_back(at::logsumexp(log_weight, 0));
  });
  // First the chunk of every draw, then its place in the chunk: the rest of the same uniform decides.
  const at::Tensor share = at::softmax(at::stack(chunk_sums), 0), upto = at::cumsum(share, 0);
  const at::Tensor u = uniform(key.fold_in(0), {rows}, at::kDouble) * upto[-1];
  const at::Tensor chunk_of = at::searchsorted(upto, u, false, /*right=*/true).clamp_max(upto.size(0) - 1);
  State result;
  result.layers.resize(machine.layers().size());
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    result.layers[layer] = at::zeros({rows, machine.unit(layer).width()}, machine.scalar_type());
  std::int64_t chunk = 0;
  for_each_state(precise, plan, [&](const State& state, const at::Tensor& log_weight) {
    const at::Tensor wanted = chunk_of.eq(chunk).nonzero().squeeze(1);
    if (wanted.size(0) > 0) {
      const at::Tensor inside = at::cumsum(at::softmax(log_weight, 0), 0);
      const at::Tensor rest = 1 - (upto[chunk] - u.index_select(0, wanted)) / share[chunk];
      const at::Tensor index =
          at::searchsorted(inside, (rest * inside[-1]).contiguous(), false, true).clamp_max(inside.size(0) - 1);
      for (const std::size_t layer : plan.enumerated)
        result.layers[layer].index_copy_(0, wanted,
                                         state.layers[layer].index_select(0, index).to(machine.scalar_type()));
    }
    ++chunk;
  });
  (void)sample_layers(machine, result, key.fold_in(1), plan.summed);
  return result;
}

}  // namespace harmonium
