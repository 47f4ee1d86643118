// Parallel tempering (Swendsen & Wang 1986; Geyer 1991): a crowd of chains on every rung of a ladder of inverse
// temperatures, and neighbours that exchange their states.
//
// A step first offers exchanges, pairs (0,1), (2,3), … in even steps and (1,2), (3,4), … in odd ones, each row accepted
// with min(1, f_r(x_{r+1}) f_{r+1}(x_r) / (f_r(x_r) f_{r+1}(x_{r+1}))), f with one block of layers summed out; then
// every rung makes Gibbs sweeps, except that β = 0 is drawn anew. Both leave the product of all rungs' distributions
// invariant. Modes are left by way of the base and not by luck, provided that the ladder is fine enough and that the
// base leads to all of them: from one that knows a single mode (a machine's own biases often do) every exchange is
// accepted and the others are never found. Cost of a step: two products with the weights for every rung, sweep and row.
#pragma once

#include "harmonium/core/named_tensors.h"
#include "harmonium/samplers/tempered_line.h"

namespace harmonium {

struct TemperingStatistics {
  std::int64_t steps = 0;
  std::vector<double> acceptance;  // mean probability of an exchange, by pair (r, r+1); NaN where none was offered
  std::int64_t round_trips = 0;    // journeys base → target → base, over all walkers
};

class ParallelTempering {
 public:
  // `rows` chains on each rung. They start as draws from the base when the first step is made.
  ParallelTempering(std::vector<double> ladder, std::int64_t rows);

  // The same with chains that are at hand: one state per rung, of which the kept layers are used.
  void start(std::vector<State> rungs);
  // The line may change from step to step, as it does in training.
  void step(const TemperedLine& line, const Key& key, std::int64_t sweeps = 1);

  [[nodiscard]] const std::vector<double>& ladder() const { return ladder_; }
  // Kept layers of each rung; empty before the first step.
  [[nodiscard]] const std::vector<State>& rungs() const { return rungs_; }
  // The chains at β = 1 with their summed layers drawn given the kept ones, and optionally the fields they had.
  [[nodiscard]] State target_state(const TemperedLine& line, const Key& key, Fields* summed_fields = nullptr) const;
  // What has happened since the last call.
  [[nodiscard]] TemperingStatistics take_statistics();

  // Everything the next step depends on; restore() takes the ladder from it as well.
  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  void exchange(const TemperedLine& line, std::size_t lower, const Key& key, std::vector<Fields>& inputs);
  void note_arrivals();

  std::vector<double> ladder_;
  std::int64_t rows_;
  std::vector<State> rungs_;
  at::Tensor heading_;     // rungs × rows: the end that the walker now there has seen last (0: none yet)
  std::int64_t turn_ = 0;  // steps in all: decides which pairs are offered
  std::int64_t steps_ = 0;
  // Sums since the last take_statistics(), where the chains are, so that no step waits for a device; by pair.
  at::Tensor accepted_, round_trips_;
  std::vector<double> offered_;
};

}  // namespace harmonium
