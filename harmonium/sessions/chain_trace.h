// A trace of chains: how long they remember, how many samples they are worth, and how often they change class.
//
// Of every step are kept, for each chain: log f, the mean activity of the visible layer, and its projections on the
// first directions of the weights (left singular vectors), which a Gibbs chain forgets last: in the linear regime its
// memory along one is the square of the singular value. They depend on the model alone, so samplers can be compared.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/samplers/chains.h"
#include "harmonium/sessions/sample_data.h"

namespace harmonium {

// What samplers say of themselves, as JSON.
[[nodiscard]] nlohmann::ordered_json to_json(const Chains::Notes& notes);

struct Diagnosis {
  std::int64_t chains = 0, steps = 0;
  double seconds = 0;                          // of the sampler alone
  double time_of_log_f = 0, slowest_time = 0;  // τ in steps
  std::string slowest = {};                    // what it is the time of
  double effective_samples = 0;                // by the slowest
  std::optional<ModeJumps> jumps = std::nullopt;
  std::string how_assigned = {};
  double assignment_accuracy = 0;           // of nearest rows among themselves; NaN for a label layer
  double nearest = 0, nearest_of_data = 0;  // mean distance of states to the nearest row, and of rows to other rows
  // Mean distance of labelled rows to the nearest of the chains' last states, and to the nearest of as many other rows.
  double left_out = 0, left_out_by_data = 0;
  Chains::Notes notes = {};

  [[nodiscard]] nlohmann::ordered_json to_json() const;
  [[nodiscard]] std::vector<std::string> sentences() const;
};

class ChainTrace {
 public:
  // `classes` may be null.
  ChainTrace(const BoltzmannMachine& machine, const ClassAssigner* classes);

  // A state that took the sampler so long.
  void observe(const State& state, double seconds);
  // At least four states are needed.
  [[nodiscard]] Diagnosis diagnose(Chains::Notes notes) const;

 private:
  BoltzmannMachine machine_;
  const ClassAssigner* classes_;
  at::Tensor directions_;  // visible × directions
  std::vector<at::Tensor> log_f_, activity_, projections_, modes_;
  at::Tensor last_;  // visible layer
  double seconds_ = 0, distance_ = 0;
};

}  // namespace harmonium
