#include "harmonium/samplers/tempered_transitions.h"

#include "harmonium/kernels/random.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

TemperedTransition tempered_transition(const TemperedLine& line, const std::vector<double>& ladder, State& state,
                                       const Key& key, Fields* fields) {
  check_ladder(ladder);
  const std::int64_t rows = state.rows();
  State x = state;
  TemperedTransition result;
  result.log_ratio = at::zeros({rows}, line.target().options(at::kDouble));
  Fields inputs;
  const auto weigh = [&](std::size_t from, std::size_t to) {
    inputs = line.inputs(x);
    result.log_ratio += line.log_f(x, inputs, ladder[to]) - line.log_f(x, inputs, ladder[from]);
  };
  for (std::size_t rung = ladder.size() - 1; rung > 0; --rung) {
    weigh(rung, rung - 1);
    if (rung > 1) line.sweep(x, inputs, ladder[rung - 1], key.fold_in(0).fold_in(rung));
  }
  x = line.draw_base(key.fold_in(1), rows);  // the way there and the way back meet in one independent draw
  for (std::size_t rung = 0; rung + 1 < ladder.size(); ++rung) {
    weigh(rung, rung + 1);
    if (rung + 2 < ladder.size()) line.sweep(x, inputs, ladder[rung + 1], key.fold_in(2).fold_in(rung));
  }
  const at::Tensor probability = result.log_ratio.clamp_max(0).exp();
  result.accepted = uniform(key.fold_in(3), {rows}, probability.options()) < probability;
  result.acceptance = probability.mean().item<double>();
  for (const std::size_t layer : line.kept())
    state.layers[layer] = at::where(result.accepted.unsqueeze(1), x.layers[layer], state.layers[layer]);
  Fields drawn = sample_layers(line.target(), state, key.fold_in(4), line.summed());
  if (fields != nullptr) *fields = std::move(drawn);
  return result;
}

}  // namespace harmonium
