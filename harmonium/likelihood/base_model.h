// Where annealing starts: a machine whose log Z is known and which can be sampled without a Markov chain.
//
// Without weights both are trivial. A machine with weights serves as well if one of its sides can be enumerated.
#pragma once

#include <string>
#include <vector>

#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/samplers/base_parameters.h"  // IWYU pragma: export

namespace harmonium {

class BaseModel {
 public:
  // Fails where the machine has weights and is too large to enumerate. `description` is for people: "uniform".
  BaseModel(BoltzmannMachine machine, std::string description);
  // One whose log Z is known from elsewhere, whatever its size; it need not be drawn from.
  BaseModel(BoltzmannMachine machine, std::string description, double log_z);

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

}  // namespace harmonium
