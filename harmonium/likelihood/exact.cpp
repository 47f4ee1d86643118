#include "harmonium/likelihood/exact.h"

#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/models/split_enumeration.h"

namespace harmonium {

Estimate exact_log_z(const BoltzmannMachine& machine, int max_bits, const Progress& progress) {
  require_finite_z(machine);
  const BoltzmannMachine precise = machine.precise_on_cpu();
  const EnumerationPlan plan = plan_enumeration(precise, max_bits);
  double log_z = -std::numeric_limits<double>::infinity();
  SplitEnumeration(precise, plan)
      .for_each(
          [&](std::int64_t, const at::Tensor& log_weight) {
            const double chunk = at::logsumexp(log_weight.reshape(-1), 0).item<double>();
            const double high = std::max(log_z, chunk);
            log_z = high + std::log(std::exp(log_z - high) + std::exp(chunk - high));
          },
          progress);
  return {.value = log_z,
          .low = log_z,
          .high = log_z,
          .kind = EstimateKind::exact,
          .method = format("exact ({})", plan.describe(precise))};
}

}  // namespace harmonium
