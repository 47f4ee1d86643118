#include "harmonium/training/enumerated_statistics.h"

#include "harmonium/core/error.h"
#include "harmonium/models/exact_fisher.h"

namespace harmonium {

namespace {

// Every observation of a run forms the matrix anew: 5000² doubles are 200 MB and seconds.
constexpr std::int64_t most_statistics = 5000;

}  // namespace

void require_enumerable(const BoltzmannMachine& machine) {
  (void)plan_exact_fisher(machine);
  const std::int64_t dimension = machine.parameters().dimension();
  require(dimension <= most_statistics,
          "the Fisher information of {} statistics would have to be enumerated many times, and the limit is {}; use "
          "@gradient pcd with @optimizer fang, or @optimizer centering",
          dimension, most_statistics);
}

const DenseStatistics& EnumeratedStatistics::dense() const {
  if (!dense_) {
    const ExactFisher fisher = exact_fisher(machine_);
    const at::TensorOptions here = machine_.options();  // the enumeration itself was made on the CPU, in float64
    dense_.emplace(machine_.topology(), fisher.mean.to(here), fisher.covariance.to(here));
  }
  return *dense_;
}

}  // namespace harmonium
