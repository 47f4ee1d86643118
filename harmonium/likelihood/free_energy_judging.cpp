#include "harmonium/likelihood/free_energy_judging.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>

#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/bennett.h"
#include "harmonium/likelihood/free_energy_annealing.h"
#include "harmonium/likelihood/usual_chains.h"
#include "harmonium/samplers/hmc.h"

namespace harmonium {

namespace {

// Multiplications: minutes for who asks for it, about ten seconds, about one.
constexpr double patient_work = 1e12, thorough_work = 2e10, hasty_work = 2e9;

bool is_exact_within(const FreeEnergyModel& model, double work) {
  return model.exact_work().value_or(2 * work) <= work;
}

class EnergyEstimator {
 public:
  EnergyEstimator(const FreeEnergyModel& model, const Moments& theta, const at::Tensor& rows,
                  const EstimationOptions& options, Watcher& watcher, Journal* journal)
      : path_(model, theta, options.seed), rows_(rows), options_(options), watcher_(watcher), journal_(journal) {}

  [[nodiscard]] Findings up(std::int64_t betas) {
    forward_ = ais(path_, chains_of(options_), betas, annealing("AIS", "ais", betas));
    return {.log_z = forward_.log_z};
  }

  [[nodiscard]] Findings both(std::int64_t betas) {
    Findings findings = up(betas);
    if (!samples_.defined()) draw_samples();
    const AisResult reverse = reverse_ais(path_, samples_, betas, annealing("reverse AIS", "reverse", betas));
    findings.reverse = average_bound(reverse, options_.seed);
    findings.reverse->method += " from " + how_;
    findings.bennett = bennett(forward_, reverse, options_.seed);
    if (rows_.defined()) bound_by_data(betas, findings);
    return findings;
  }

  // log Z from above by chains that walk down from rows of data.
  void bound_by_data(std::int64_t betas, Findings& findings) {
    findings.raise_rows = std::min(options_.raise_rows, rows_.size(0));
    const at::Tensor rows = chosen_rows(Key(options_.seed).fold_in(0x4015), findings.raise_rows);
    findings.raise = raise(path_, rows, options_.raise_chains, betas, annealing("RAISE", "raise", betas)).upper_log_z;
  }

 private:
  [[nodiscard]] AnnealingOptions annealing(const std::string& what, const std::string& name, std::int64_t betas) {
    return {.seed = options_.seed,
            .progress = watcher_.begin(format("{}, {} β", what, betas)),
            .journal = journal_,
            .name = format("{}-{}-hmc", name, betas)};
  }

  // At random, since many sets are in order of class.
  [[nodiscard]] at::Tensor chosen_rows(const Key& key, std::int64_t count) const {
    return rows_.index_select(0, permutation(key, rows_.size(0)).narrow(0, 0, count)).to(at::kDouble);
  }

  // Exact draws where there can be any; else long HMC chains, half of them from rows of data and half walked up from
  // the base, so that modes of either kind are found.
  void draw_samples() {
    constexpr std::int64_t trajectories = 500, most_rows = 500;
    const Key key = Key(options_.seed).fold_in(0x5A3F);
    const std::int64_t count = std::min(chains_of(options_), most_rows);
    if (is_exact_within(path_.model(), thorough_work)) {
      samples_ = path_.model().exact_draws(path_.parameters(), key, count);
      how_ = "exact draws";
      if (samples_.defined()) return;
    }
    const std::int64_t of_data = rows_.defined() ? std::min((count + 1) / 2, rows_.size(0)) : 0;
    at::Tensor near, far = path_.draw_base(key.fold_in(0), count - of_data);
    if (of_data > 0) near = chosen_rows(key.fold_in(1), of_data);
    const Progress progress = watcher_.begin("sampling the model");
    constexpr std::int64_t heating = trajectories / 5;
    for (std::int64_t i = 0; i < trajectories; ++i) {
      const Key own = key.fold_in(2).fold_in(static_cast<std::uint64_t>(i));
      if (of_data > 0) path_.move(near, 1, own.fold_in(0));
      const double beta = std::min(1.0, static_cast<double>(i + 1) / static_cast<double>(heating));
      if (of_data < count) path_.move(far, beta, own.fold_in(1));
      progress(i + 1, trajectories);
    }
    samples_ = of_data > 0 ? at::cat({near, far}) : far;
    how_ = format("{} HMC trajectories", trajectories);
  }

  FreeEnergyPath path_;
  const at::Tensor& rows_;
  const EstimationOptions& options_;
  Watcher& watcher_;
  Journal* journal_;
  AisResult forward_;  // of the last AIS
  at::Tensor samples_;
  std::string how_;
};

}  // namespace

void check_for_energies(const EstimationOptions& options) {
  check(options);
  require(options.method != "ma-ais",
          "@method {}: this model is annealed along its own path; there are exact, ais, raise, sandwich and auto",
          options.method);
  require(options.schedule == "linear", "@schedule {}: this model is annealed in even steps; leave @schedule out",
          options.schedule);
  require(options.base == "data", "@base {}: this model is annealed from its own Gaussian; leave @base out",
          options.base);
}

std::string method_for(const EstimationOptions& options, const FreeEnergyModel& model) {
  if (options.method != "auto") return options.method;
  if (is_exact_within(model, options.thorough ? thorough_work : hasty_work)) return "exact";
  return options.thorough ? "auto" : "ais";
}

bool found_the_same_way(const Evaluation& old, const EstimationOptions& options, const FreeEnergyModel& model) {
  if (!old.log_z) return false;
  const std::string method = method_for(options, model);
  if (method == "exact") return old.log_z->kind == EstimateKind::exact;
  const bool both = method == "auto" || method == "sandwich", by_raise = method == "raise";
  if (old.gap.has_value() != both || old.log_z->method != (by_raise ? "raise" : "ais")) return false;
  if (method == "auto") return Sandwich{*old.log_z, *old.upper_log_z}.agrees(options.gap);
  return old.log_z->betas == betas_of(options) &&
         old.log_z->chains == (by_raise ? options.raise_chains : chains_of(options));
}

Findings find_log_z(const FreeEnergyModel& model, const Moments& theta, const at::Tensor& rows,
                    const EstimationOptions& options, Watcher& watcher, Journal* journal) {
  check_for_energies(options);
  const std::string complaint = model.complaint(theta);
  require(complaint.empty(), "this model cannot be judged: {}", complaint);
  const std::string method = method_for(options, model);
  if (method == "exact") {
    require(is_exact_within(model, patient_work), "@method exact: {}; use @method sandwich",
            model.exact_work() ? "there are too many hidden states to enumerate" : "no closed form of log Z is known");
    const double log_z = model.exact_log_z(theta);
    return {
        .log_z = {
            .value = log_z, .low = log_z, .high = log_z, .kind = EstimateKind::exact, .method = model.exact_method()}};
  }
  require(method != "raise" || rows.defined(), "@method raise bounds the log-likelihood of data: give @data");
  EnergyEstimator estimator(model, theta, rows, options, watcher, journal);
  if (method == "raise") {
    Findings findings;
    estimator.bound_by_data(betas_of(options), findings);
    findings.log_z = *findings.raise;
    return findings;
  }
  if (method == "ais") return estimator.up(betas_of(options));
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  const Clock::time_point start = Clock::now();
  // Twice the β until the two agree or the time is spent.
  for (std::int64_t betas = betas_of(options);; betas *= 2) {
    const Clock::time_point round = Clock::now();
    const Findings findings = estimator.both(betas);
    const Sandwich sides{findings.log_z, *findings.upper(options.gap)};
    if (method == "sandwich" || sides.agrees(options.gap)) return findings;
    const std::string standing =
        format("{} β: a gap of {} ± {} nats", betas, short_number(sides.gap()), short_number(sides.noise()));
    const double next = 2 * seconds_since(round), left = 60 * options.minutes - seconds_since(start);
    if (next > left) {
      watcher.say(format("{}. Twice as many would take {:.0f} s more, beyond @minutes {}", standing, next,
                         short_number(options.minutes)));
      return findings;
    }
    watcher.say(format("{}; now {} β", standing, 2 * betas));
  }
}

}  // namespace harmonium
