#include "harmonium/training/run_config.h"

#include "harmonium/core/error.h"

namespace harmonium {

Rates default_rates(const std::string& optimizer) {
  if (optimizer == "sgd") return {.bias = 0.1, .weights = 0.1};
  if (optimizer == "centering") return {.bias = 0.2, .weights = 0.2};
  fail("no default rates are known for optimizer '{}'; give --rate-weights and --rate-bias", optimizer);
}

}  // namespace harmonium
