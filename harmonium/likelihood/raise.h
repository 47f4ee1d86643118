// RAISE (Burda, Grosse & Salakhutdinov 2015): a lower bound on the log-likelihood of every row by annealing downwards.
//
// Read as a generative model, an annealing path draws x_0 from the base and sends it up; call the distribution of what
// arrives p_ann. A chain that starts at the row v and walks down (annealing.h) has the weight
//   log w = log f_K(v) − log Z_0 + Σ_k [log f_{k−1}(x_{k−1}) − log f_k(x_{k−1})],   E[w] = p_ann(v),
// so log mean w over chains is a lower bound on log p_ann(v) in expectation. p_ann tends to the model as the path grows
// finer, and on average over rows drawn from the model log p_ann is never above log p. Beside AIS, which errs the other
// way, it makes a sandwich: where the two agree, both are right.
//
// log f(v) − log mean w is a bound from above on log Z that hardly depends on v: a hundred rows give it to a small
// fraction of a nat, and with it a bound on the likelihood of all other rows.
#pragma once

#include "harmonium/likelihood/annealing.h"
#include "harmonium/likelihood/estimate.h"

namespace harmonium {

struct RaiseResult {
  at::Tensor log_p;         // rows, float64: the bound of every row
  at::Tensor log_z;         // rows: log f(v) − log_p
  Estimate log_likelihood;  // mean of log_p over these rows; the interval is over rows, chains' noise included
  Estimate upper_log_z;     // mean of log_z
};

// What log w of rows × chains come to: `log_f` of every row, log Z of the base, and the steps that were walked.
[[nodiscard]] RaiseResult raise_of_weights(const at::Tensor& log_weights, const at::Tensor& log_f, double base_log_z,
                                           std::int64_t steps, std::uint64_t seed);

// `rows` has the kept layers of the path, which must be all the observed ones; `chains` for each row.
[[nodiscard]] RaiseResult raise(const AnnealingPath& path, const State& rows, std::int64_t chains,
                                const AnnealingOptions& options);

}  // namespace harmonium
