// Chains where log Z is estimated and nobody says how many: EstimationOptions::chains may be 0, since what is usual
// depends on the model (a decoder is annealed by fewer, for each row).
#pragma once

#include "harmonium/likelihood/judging.h"

namespace harmonium {

[[nodiscard]] inline std::int64_t chains_of(const EstimationOptions& options) {
  constexpr std::int64_t usual = 100;
  return options.chains > 0 ? options.chains : usual;
}

}  // namespace harmonium
