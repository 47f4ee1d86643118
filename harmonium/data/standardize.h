// Columns brought to mean 0 and deviation 1, and what it takes to bring them back.
#pragma once

#include "harmonium/data/dataset.h"

namespace harmonium {

struct Standardization {
  at::Tensor mean, deviation;  // of each column, float64

  // Log of the volume of the data's units in standardized ones: what a log-density in the data's own units has less.
  [[nodiscard]] double log_volume() const { return deviation.log().sum().item<double>(); }
};

// Throws Error naming columns that never change, and such whose deviation is lost beside their mean.
[[nodiscard]] Standardization standardization_of(const Dataset& data);
[[nodiscard]] Dataset standardized(Dataset data, const Standardization& by);

}  // namespace harmonium
