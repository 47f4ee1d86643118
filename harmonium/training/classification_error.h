// The share of some labelled rows that a model takes for another class.
#pragma once

#include "harmonium/data/dataset.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Rows as they are shown to a classifier: gray values as they are, their probabilities being the expected picture,
// except where training knew thresholded ones only.
class ClassificationError {
 public:
  ClassificationError(Dataset data, Binarization binarization);
  [[nodiscard]] double measure(const BoltzmannMachine& machine) const;

 private:
  Dataset data_;
  Binarization binarization_;
};

}  // namespace harmonium
