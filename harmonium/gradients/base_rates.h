// The base that tempered negative phases start from: independent units with the means of the data so far.
//
// Observed layers get the parameters under which independent units have the data's moments (an exponential average over
// batches), hidden ones none. It follows the data and never the chains, so it does not disturb their distribution.
// Before any data, and for machines trained without, every state is alike.
#pragma once

#include "harmonium/core/named_tensors.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class BaseRates {
 public:
  // Takes in a batch; a state without observed layers changes nothing.
  void observe(const BoltzmannMachine& machine, const State& data);
  // Parameters without weights, for TemperedLine.
  [[nodiscard]] Moments parameters(const BoltzmannMachine& machine) const;

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);  // takes "base.…" and leaves the rest

 private:
  Moments average_;  // of the observed layers' statistics, by the names of their parameters
  std::int64_t batches_ = 0;
};

}  // namespace harmonium
