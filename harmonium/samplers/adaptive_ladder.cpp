#include "harmonium/samplers/adaptive_ladder.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/samplers/parallel_tempering.h"

namespace harmonium {

std::vector<double> equalized_ladder(const std::vector<double>& ladder, const std::vector<double>& acceptance,
                                     std::int64_t rungs) {
  check_ladder(ladder);
  require(acceptance.size() + 1 == ladder.size(), "{} acceptances for a ladder of {} rungs", acceptance.size(),
          ladder.size());
  // A pair that was never refused still gets a little, so that the cumulated rate rises everywhere.
  constexpr double least = 1e-6;
  std::vector<double> cumulated = {0};
  for (const double one : acceptance) {
    require(one >= 0 && one <= 1, "an acceptance of {} is not a probability; the pilot was too short", one);
    cumulated.push_back(cumulated.back() + std::max(1 - one, least));
  }
  std::vector<double> result = linear_ladder(rungs);
  for (std::size_t i = 1; i + 1 < result.size(); ++i) {
    const double wanted = result[i] * cumulated.back();
    const auto above = static_cast<std::size_t>(std::ranges::upper_bound(cumulated, wanted) - cumulated.begin());
    const double share = (wanted - cumulated[above - 1]) / (cumulated[above] - cumulated[above - 1]);
    result[i] = ladder[above - 1] + share * (ladder[above] - ladder[above - 1]);
  }
  return result;
}

std::vector<double> adaptive_ladder(const TemperedLine& line, std::int64_t rungs, const Key& key,
                                    const AdaptiveLadderOptions& options) {
  require(options.rounds >= 1 && options.steps >= 2,
          "an adaptive ladder needs at least one pilot of two steps, not {} of {}", options.rounds, options.steps);
  std::vector<double> ladder = linear_ladder(rungs);
  std::vector<State> chains;
  std::int64_t steps = options.steps;
  for (std::int64_t round = 0; round < options.rounds; ++round, steps *= 2) {
    ParallelTempering pilot(ladder, options.rows);
    if (!chains.empty()) pilot.start(std::move(chains));
    const Key round_key = key.fold_in(static_cast<std::uint64_t>(round));
    for (std::int64_t step = 0; step < steps; ++step) {
      // The chains of the round before belong to other rungs: they first settle on these.
      if (step == steps / 4) (void)pilot.take_statistics();
      pilot.step(line, round_key.fold_in(static_cast<std::uint64_t>(step)));
    }
    ladder = equalized_ladder(ladder, pilot.take_statistics().acceptance, rungs);
    chains = pilot.rungs();
  }
  return ladder;
}

}  // namespace harmonium
