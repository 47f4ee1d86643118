// Walking a crowd of chains along an annealing path, up (AIS) or down (RAISE, reverse AIS), and keeping their weights.
#pragma once

#include <functional>
#include <string>

#include "harmonium/likelihood/annealing_path.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/journal.h"

namespace harmonium {

enum class Way { up, down };

// What all annealed estimates share.
struct AnnealingOptions {
  std::int64_t chains_at_once = 500;  // chains run in groups of at most this size, which bounds memory
  std::uint64_t seed = 0;
  Progress progress = {};      // (steps done, steps in all)
  Journal* journal = nullptr;  // where to keep unfinished work
  std::string name = "ais";    // of the work in the journal
  // After every step: its number (1 …) and the weights so far of the group that made it.
  std::function<void(std::int64_t step, const at::Tensor& log_weights)> observe = {};
};

// log-weights (chains, float64, on the CPU wherever the chains walk) of chains that walk the whole path.
//   up:   x_0 as given (a draw of the base);  Σ_{k=1…K} log f_k(x_{k−1}) − log f_{k−1}(x_{k−1}),  x_k ~ T_k(· |
//   x_{k−1}) down: x_K as given;  x_{k−1} ~ T_k(· | x_k),  Σ_{k=K…1} log f_{k−1}(x_{k−1}) − log f_k(x_{k−1})
// with T_k a Gibbs sweep of the kept layers, which is reversible for f_k. `start(group, count)` gives the first states
// of a group of chains.
[[nodiscard]] at::Tensor anneal(const AnnealingPath& path, Way way, std::int64_t chains,
                                const std::function<State(std::int64_t first, std::int64_t count, const Key&)>& start,
                                const AnnealingOptions& options);

}  // namespace harmonium
