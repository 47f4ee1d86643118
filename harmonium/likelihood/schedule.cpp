#include "harmonium/likelihood/schedule.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Places of equal steps in the integral of `speed`, which is constant on each of its equal pieces of [0, 1].
std::vector<double> equal_lengths(const std::vector<double>& speed, std::int64_t steps) {
  double total = 0;
  for (const double each : speed) total += each;
  const auto pieces = static_cast<double>(speed.size());
  std::vector<double> places;
  std::size_t piece = 0;
  double passed = 0;  // length before `piece`
  for (std::int64_t k = 0; k <= steps; ++k) {
    const double wanted = total * static_cast<double>(k) / static_cast<double>(steps);
    while (piece + 1 < speed.size() && passed + speed[piece] < wanted) passed += speed[piece++];
    places.push_back(std::min(1.0, (static_cast<double>(piece) + (wanted - passed) / speed[piece]) / pieces));
  }
  places.front() = 0;
  places.back() = 1;
  return places;
}

}  // namespace

std::vector<double> linear_schedule(std::int64_t steps) {
  require(steps >= 1, "annealing needs at least one β step, not {}", steps);
  std::vector<double> betas;
  for (std::int64_t k = 0; k <= steps; ++k) betas.push_back(static_cast<double>(k) / static_cast<double>(steps));
  return betas;
}

std::vector<double> read_schedule(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<double> betas;
  for (double beta = 0; text >> beta;) betas.push_back(beta);
  require(text.eof(),
          "@schedule {}: the text after the first {} numbers is not a number; give values of β from 0 to 1, "
          "separated by spaces or lines",
          path, betas.size());
  require(betas.size() >= 2, "@schedule {}: needs at least two values of β, 0 and 1", path);
  return betas;
}

std::vector<double> adaptive_schedule(const BaseModel& base, const BoltzmannMachine& target, std::int64_t steps,
                                      const PilotOptions& options) {
  require(options.chains >= 2, "a pilot run needs at least two chains, not {}", options.chains);
  const std::int64_t pilot = options.steps > 0 ? options.steps : std::max<std::int64_t>(100, steps / 10);
  const AnnealingPath path(base, {target}, linear_schedule(pilot), options.sum_out);
  std::vector<double> speed;
  at::Tensor before = at::zeros({options.chains}, target.options(at::kDouble));
  const auto look = [&](std::int64_t, const at::Tensor& log_weights) {
    speed.push_back((log_weights - before).std().item<double>());
    before = log_weights.clone();
  };
  (void)anneal(
      path, Way::up, options.chains,
      [&](std::int64_t, std::int64_t count, const Key& key) { return base.draw(key, count); },
      {.chains_at_once = options.chains, .seed = options.seed + 0x9170, .progress = options.progress, .observe = look});
  // Noisy estimates make ragged steps: average over neighbours, and leave no stretch without any steps.
  constexpr std::ptrdiff_t reach = 3;
  double mean = 0;
  for (const double each : speed) mean += each / static_cast<double>(speed.size());
  if (mean == 0) return linear_schedule(steps);  // nothing changes along the path
  std::vector<double> smooth;
  const auto size = static_cast<std::ptrdiff_t>(speed.size());
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    double sum = 0;
    const std::ptrdiff_t low = std::max<std::ptrdiff_t>(0, i - reach), high = std::min(size - 1, i + reach);
    for (std::ptrdiff_t j = low; j <= high; ++j) sum += speed[static_cast<std::size_t>(j)];
    smooth.push_back(std::max(sum / static_cast<double>(high - low + 1), 0.1 * mean));
  }
  return equal_lengths(smooth, steps);
}

}  // namespace harmonium
