// Where annealing starts: a machine whose log Z is known and which can be sampled without a Markov chain.
//
// Without weights both are trivial. A machine with weights serves as well if one of its sides can be enumerated.
#pragma once

#include <string>
#include <vector>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class BaseModel {
 public:
  // Fails where the machine has weights and is too large to enumerate. `description` is for people: "uniform".
  BaseModel(BoltzmannMachine machine, std::string description);

  [[nodiscard]] const BoltzmannMachine& machine() const { return machine_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] double log_z() const { return log_z_; }
  [[nodiscard]] bool independent() const { return independent_; }  // without weights
  // Rows of independent draws.
  [[nodiscard]] State draw(const Key& key, std::int64_t rows) const;
  // E[g], exactly.
  [[nodiscard]] Moments moments() const;

 private:
  BoltzmannMachine machine_;
  std::string description_;
  bool independent_;
  double log_z_;
};

// Every state alike (continuous units: standard normal).
[[nodiscard]] BaseModel uniform_base(const BoltzmannMachine& machine);

// Base parameters: all weights zero, hidden biases zero, observed layers at the given moments of independent units (one
// list per observed layer, as Unit::moments gives), smoothed.
[[nodiscard]] Moments base_rate_parameters(const BoltzmannMachine& machine,
                                           const std::vector<std::vector<at::Tensor>>& observed_moments,
                                           double smoothing = 1e-3);
// The same where no data are at hand: moments from a short run of Gibbs chains on the machine itself.
[[nodiscard]] Moments base_rate_parameters(const BoltzmannMachine& machine, const Key& key);

}  // namespace harmonium
