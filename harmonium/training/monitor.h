// The numbers one watches while training, on a fixed sample of rows. All are cheap and none is a likelihood.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "harmonium/data/dataset.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/training/classification_error.h"

namespace harmonium {

class Monitor {
 public:
  // Takes at most `rows` rows of each set and binarizes gray values once, by `seed`. `valid` may have no rows.
  Monitor(const Dataset& train, const Dataset& valid, Binarization binarization, std::int64_t classes,
          std::uint64_t seed, std::int64_t rows = 500);

  // Names and values:
  //   pseudo_log_likelihood  Σ_i log p(v_i | v_−i) on validation rows (else training rows), estimated from one random
  //                          unit per row, the same units every time; binary visible units only
  //   free_energy_gap        mean F(valid) − mean F(train): grows when the model overfits; not for word counts
  //   classification_error   share of validation rows (else training rows) taken for another class; gray values as they
  //                          are, unless training thresholds them; machines with a label only
  //   reconstruction_error   mean squared error per row of v → E[h|v] → E[v|h]
  //   awake_units            share of the units above the first hidden layers whose means tell rows apart (a standard
  //                          deviation of at least 0.05 between rows); deep machines only
  // Where hidden layers are joined to each other, mean field stands for E[h|v], and its bound for −F.
  [[nodiscard]] std::map<std::string, double> measure(const BoltzmannMachine& machine) const;

 private:
  std::vector<at::Tensor> train_, valid_;  // one tensor per observed layer
  std::optional<ClassificationError> classification_;
  Key key_;
};

}  // namespace harmonium
