#include "harmonium/likelihood/moment_averaging.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/error.h"
#include "harmonium/geometry/centering.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

// E[g] of the target from chains that begin where `state` is, over the second half of their way.
Moments target_moments(const BoltzmannMachine& target, State& state, std::int64_t sweeps, const Key& key,
                       const std::function<void()>& tick) {
  Moments average = target.parameters().zeros_like();
  std::int64_t counted = 0;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const Moments moments = walk_and_average(target, state, key.fold_in(static_cast<std::uint64_t>(sweep)));
    if (2 * sweep >= sweeps) average.lerp_(moments, 1.0 / static_cast<double>(++counted));
    tick();
  }
  return average;
}

// Changes `machine` until its expected statistics are `wanted`; the chains go along.
void fit_moments(BoltzmannMachine& machine, State& particles, const Moments& wanted,
                 const MomentAveragingOptions& options, const Key& key, const std::function<void()>& tick) {
  Centering metric(machine.topology(), machine.parameters(), {});
  for (std::int64_t update = 0; update < options.updates; ++update) {
    const Moments model = walk_and_average(machine, particles, key.fold_in(static_cast<std::uint64_t>(update)));
    metric.observe({wanted, model, nullptr});
    metric.refit();
    const double left = 1 - static_cast<double>(update) / static_cast<double>(options.updates);
    machine.parameters().add_(metric.solve(wanted - model).total(), options.rate * left);
    machine.constrain_();
    tick();
  }
}

// `steps` in parts as near as can be to `shares`, each at least one.
std::vector<std::int64_t> apportion(std::int64_t steps, const std::vector<double>& shares) {
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> parts;
  double wanted = 0;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    wanted += static_cast<double>(steps) * (total > 0 ? shares[i] / total : 1.0 / static_cast<double>(shares.size()));
    const auto later = static_cast<std::int64_t>(shares.size() - i - 1);
    parts.push_back(std::clamp<std::int64_t>(std::llround(wanted) - given, 1, steps - given - later));
    given += parts.back();
  }
  parts.back() += steps - given;
  return parts;
}

std::vector<BoltzmannMachine> fit_knots(const BaseModel& base, const BoltzmannMachine& target, const Moments& low,
                                        const Moments& high, const MomentAveragingOptions& options, const Key& key,
                                        const std::function<void()>& tick) {
  std::vector<BoltzmannMachine> knots;
  BoltzmannMachine machine = base.machine().to(target.options());
  State particles = base.draw(key.fold_in(1), options.particles);
  for (std::int64_t r = 1; r <= options.knots; ++r) {
    const double fraction = static_cast<double>(r) / static_cast<double>(options.knots + 1);
    const Moments wanted = low.clone().lerp_(high, fraction);
    fit_moments(machine, particles, wanted, options, key.fold_in(static_cast<std::uint64_t>(r) + 1), tick);
    knots.push_back(machine.to(target.scalar_type()));
  }
  return knots;
}

}  // namespace

AnnealingPath moment_averaged_path(const BaseModel& base, const BoltzmannMachine& target, const State& start,
                                   std::int64_t steps, const MomentAveragingOptions& options) {
  require(options.knots >= 0 && steps > options.knots,
          "moment-averaged annealing needs more steps than knots: {} steps for {} knots", steps, options.knots);
  require(options.updates >= 1 && options.particles >= 2 && options.sweeps >= 2,
          "moment-averaged annealing needs updates, at least two particles and two sweeps");
  const Key key = Key(options.seed).fold_in(0x3A15);
  const std::int64_t all = options.sweeps + options.knots * options.updates;
  std::int64_t done = 0;
  const auto tick = [&] {
    if (options.progress) options.progress(++done, all);
  };

  std::vector<BoltzmannMachine> knots;
  Moments high;
  const auto kept = options.journal != nullptr ? options.journal->find(options.name) : std::nullopt;
  const auto moments_in = [&](const std::string& prefix) {
    Moments result = target.parameters().zeros_like();
    copy_moments(result, under_prefix(prefix, *kept), options.name);
    return result;
  };
  const Moments low = base.moments();
  if (kept) {
    high = moments_in("moments/");
    for (std::int64_t r = 0; r < options.knots; ++r)
      knots.push_back(target.with_parameters(moments_in(format("{}/", r))));
  } else {
    State state = base.draw(key.fold_in(0), options.particles);
    if (!start.layers.empty()) {
      const at::Tensor rows = at::remainder(at::arange(options.particles, target.options(at::kLong)), start.rows());
      for (std::size_t layer = 0; layer < start.layers.size(); ++layer)
        if (start.layers[layer].defined())
          state.layers[layer] = start.layers[layer].index_select(0, rows).to(target.scalar_type());
      // The other layers know nothing of these rows yet; a sweep begins with the first block and would forget them.
      (void)sample_layers(target, state, key.fold_in(3), target.hidden());
    }
    high = target_moments(target, state, options.sweeps, key.fold_in(2), tick);
    knots = fit_knots(base, target, low, high, options, key.fold_in(4), tick);
    if (options.journal != nullptr) {
      NamedTensors all_of_it;
      for (const auto& [name, value] : high.entries()) all_of_it.emplace_back("moments/" + name, value);
      for (std::size_t r = 0; r < knots.size(); ++r)
        for (const auto& [name, value] : knots[r].parameters().entries())
          all_of_it.emplace_back(format("{}/{}", r, name), value);
      options.journal->keep(options.name, all_of_it);
    }
  }
  knots.push_back(target);

  // All lines have the same Δs. A fit that has not converged may turn Δη·Δs negative; such a line gets its least.
  const Moments between = high - low;
  std::vector<double> lengths;
  const Moments* before = &base.machine().parameters();
  for (const BoltzmannMachine& knot : knots) {
    lengths.push_back(std::sqrt(std::max(0.0, dot(knot.parameters() - *before, between))));
    before = &knot.parameters();
  }
  std::vector<double> places = {0};
  const std::vector<std::int64_t> parts = apportion(steps, lengths);
  for (std::size_t line = 0; line < parts.size(); ++line)
    for (std::int64_t k = 1; k <= parts[line]; ++k)
      places.push_back(static_cast<double>(line) + static_cast<double>(k) / static_cast<double>(parts[line]));
  return {base, std::move(knots), std::move(places), options.sum_out};
}

}  // namespace harmonium
