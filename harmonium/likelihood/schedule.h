// How the steps of an annealing are spread over its path.
#pragma once

#include <string>
#include <vector>

#include "harmonium/likelihood/annealing.h"

namespace harmonium {

// 0, 1/steps, …, 1.
[[nodiscard]] std::vector<double> linear_schedule(std::int64_t steps);

// Values of β in a text file, separated by spaces or lines.
[[nodiscard]] std::vector<double> read_schedule(const std::string& path);

struct PilotOptions {
  std::int64_t chains = 100;
  std::int64_t steps = 0;  // of the pilot run; 0: a tenth of the steps asked for, at least 100
  std::uint64_t seed = 0;
  SumOut sum_out = SumOut::odd;
  Progress progress = {};
};

// `steps` steps of equal thermodynamic length on the geometric path from base to target, as a pilot run sees it:
// d length / dβ = √Var[d log f_β(x) / dβ], the deviation between the pilot's chains. Where the distribution changes
// fast the steps are short. The estimate stays unbiased whatever the pilot says: its chains are not used again.
[[nodiscard]] std::vector<double> adaptive_schedule(const BaseModel& base, const BoltzmannMachine& target,
                                                    std::int64_t steps, const PilotOptions& options);

}  // namespace harmonium
