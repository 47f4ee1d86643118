// A ladder of inverse temperatures on which all neighbours exchange equally often.
//
// The rejection rates of neighbours, added up from the base, are nearly a function Λ(β) of the line alone, whatever the
// rungs were. Rungs at equal increments of Λ have equal rates, which is what makes round trips most frequent (Syed,
// Bouchard-Côté, Deligiannidis & Doucet 2022). Λ comes from a pilot run, the next pilot runs on the better ladder, and
// each is twice as long as the one before.
#pragma once

#include "harmonium/samplers/tempered_line.h"

namespace harmonium {

struct AdaptiveLadderOptions {
  std::int64_t rows = 50;   // chains on each rung of a pilot
  std::int64_t rounds = 6;  // pilots
  std::int64_t steps = 50;  // of the first pilot
};

// `rungs` counts both ends.
[[nodiscard]] std::vector<double> adaptive_ladder(const TemperedLine& line, std::int64_t rungs, const Key& key,
                                                  const AdaptiveLadderOptions& options = {});

// The same from measured acceptances (one per pair of the ladder): rungs at equal increments of cumulated rejection.
[[nodiscard]] std::vector<double> equalized_ladder(const std::vector<double>& ladder,
                                                   const std::vector<double>& acceptance, std::int64_t rungs);

}  // namespace harmonium
