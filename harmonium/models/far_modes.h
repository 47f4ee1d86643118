// A machine that fools annealed importance sampling: two deep, narrow modes far from everything else.
//
// A binary RBM. A pattern p has half of its visible units on; the modes are p and its opposite 1 − p. Each has units of
// its own with weights ±w (+ where its pattern is on) and a bias that lets a unit feel its pattern only when nearly all
// of it is there: at the pattern it is worth `reward` nats, at any other state next to nothing. The rest of the hidden
// units have small random weights, with biases that give both modes the same probability. So have the free visible
// units, which belong to no pattern: with them a log-likelihood looks like that of a real model.
//
// When units · reward is more than visible · ln 2, the two modes hold nearly all the probability. Yet no state on the
// way to them is better than its neighbours, so chains that come from a base never get there, their weights are nearly
// equal, and all of them agree on a log Z without the modes. The modes being opposite, the mean of every visible unit
// is one half: base rates know nothing of them either.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct FarModesOptions {
  std::int64_t visible = 60;  // of the patterns
  std::int64_t free_visible = 30;
  std::int64_t units_per_mode = 8, other_units = 4;
  double weight = 1;
  double reward = 7;           // of a unit at its pattern, in nats
  double other_weights = 0.1;  // standard deviation
  std::uint64_t seed = 0;
};

[[nodiscard]] BoltzmannMachine make_far_modes(const FarModesOptions& options = {});

}  // namespace harmonium
