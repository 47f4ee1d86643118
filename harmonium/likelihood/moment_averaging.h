// The moment-averaged annealing path (Grosse, Maddison & Salakhutdinov 2013).
//
// Between base and target, averages of natural parameters (the geometric path) can pass through distributions that are
// like neither. Averages of moments do not: knot r of R+1 is the machine whose expected statistics are
// s_r = (1 − r/(R+1)) s_0 + r/(R+1) s_1, found by maximum likelihood with *all* layers observed (a concave problem),
// the model's moments by persistent chains. Lines of natural parameters join the knots. A line's share of the steps is
// proportional to √(Δη·Δs), its cost when its steps are many.
//
// However roughly the knots are fitted, the estimate along the path is unbiased for Z: a bad fit costs precision alone.
#pragma once

#include "harmonium/likelihood/annealing.h"

namespace harmonium {

struct MomentAveragingOptions {
  std::int64_t knots = 9;        // between base and target
  std::int64_t updates = 500;    // of the fit of each knot
  std::int64_t particles = 500;  // persistent chains
  std::int64_t sweeps = 1'000;   // of the target, to find its moments
  double rate = 0.1;             // of the fit at its start; falls to zero linearly
  std::uint64_t seed = 0;
  SumOut sum_out = SumOut::odd;
  Progress progress = {};
  Journal* journal = nullptr;
  std::string name = "knots";
};

// A path of `steps` steps. `start` may give states of the target's kept layers to begin its chains with (such as data);
// where it has no layers they begin with the base.
[[nodiscard]] AnnealingPath moment_averaged_path(const BaseModel& base, const BoltzmannMachine& target,
                                                 const State& start, std::int64_t steps,
                                                 const MomentAveragingOptions& options);

}  // namespace harmonium
