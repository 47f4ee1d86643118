// How much memory a training run will need, before anything is made: what does not fit is refused with a number instead
// of ending hours later.
#pragma once

#include <string>

#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"

namespace harmonium {

// Bytes at the largest moment. Factors were measured (peak memory of runs of every family and optimizer) and are meant
// to be right within a factor of two wherever it matters, that is beyond a few hundred megabytes.
struct MemoryEstimate {
  double parameters = 0;  // with gradients, averages, and the copies that a checkpoint takes
  double optimizer = 0;   // what the optimizer keeps beside them
  double states = 0;      // batch, particles, and rows that are watched
  double data = 0;
  [[nodiscard]] double total() const { return parameters + optimizer + states + data; }
  // "12 GB (parameters 8.2 GB, @optimizer fang 3 GB, states of units 600 MB, data 20 MB)"
  [[nodiscard]] std::string in_words(const RunConfig& config) const;
};

// Of a configuration that is resolved.
[[nodiscard]] MemoryEstimate estimate_memory(const RunConfig& config, const RunData& data);

// Fails where a run on the CPU would need more than this process may use.
void require_memory(const RunConfig& config, const RunData& data);

}  // namespace harmonium
