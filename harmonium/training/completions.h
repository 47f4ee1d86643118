// Learning around missing values: every row keeps a draw of what it lacks.
//
// The gradient of log p(v_known) is E[g | v_known] − E[g]. Where several visible units are missing, the first
// expectation has no closed form in an RBM, but given values of the missing units it has (data_moments), and such
// values can be drawn: Gibbs sampling of (missing units, hidden units) with the known ones held. As persistent chains
// do for the second expectation, a row's draw goes on from where it was when the row was last visited, `sweeps` sweeps
// each time, while parameters move slowly; at fixed parameters the average over visits tends to E[g | v_known] itself.
// Mean field would climb a bound instead, and favour machines in which missing units are independent.
//
// What is missing has to be missing at random: a value may not be missing because of what it would have been.
#pragma once

#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/training/batch_stream.h"

namespace harmonium {

class Completions {
 public:
  // For data with missing values (NaN), whose visible layer is of binary or gaussian units. Draws begin at the column
  // means.
  Completions(BatchStream batches, const BoltzmannMachine& machine, std::int64_t sweeps = 5);

  // The batch of an update with its missing values drawn.
  [[nodiscard]] at::Tensor fill(const BoltzmannMachine& machine, const at::Tensor& batch, std::int64_t update,
                                const Key& key);

  // The drawn values, in the order of rows and columns.
  [[nodiscard]] at::Tensor state() const;
  void restore(const at::Tensor& saved);

 private:
  BatchStream batches_;
  std::size_t visible_;
  std::int64_t sweeps_;
  at::Tensor missing_;  // rows × columns, true where a value is missing
  at::Tensor drawn_;    // rows × columns; only missing places mean something
};

}  // namespace harmonium
