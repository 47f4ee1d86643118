#include "harmonium/likelihood/judging.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/bennett.h"
#include "harmonium/likelihood/moment_averaging.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/likelihood/usual_chains.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

constexpr std::array methods = {"auto", "exact", "ais", "ma-ais", "raise", "sandwich"};
constexpr int hasty_bits = 22;    // enumerated within seconds
constexpr int patient_bits = 30;  // by who asks for it

SumOut sum_out_of(const EstimationOptions& options) { return options.sum_out == "even" ? SumOut::even : SumOut::odd; }

bool is_listed(const EstimationOptions& options) {
  return options.schedule != "linear" && options.schedule != "adaptive";
}

// What tells an annealing from the usual one.
std::string qualifier(const EstimationOptions& options) {
  return (options.schedule == "linear" ? "" : ", schedule " + options.schedule) +
         (options.base == "data" ? "" : ", base " + options.base) +
         (options.sum_out == "odd" ? "" : ", even layers summed out");
}

// One model, its base, and what is done to find its log Z.
class Estimator {
 public:
  Estimator(const JudgedMachine& judged, const State* data, const EstimationOptions& options, Watcher& watcher,
            Journal* journal)
      : machine_(judged.machine),
        data_(data),
        options_(options),
        watcher_(watcher),
        journal_(journal),
        base_(make_base(judged)) {}

  [[nodiscard]] Findings ais_along(const AnnealingPath& path, const std::string& method) {
    forward_ = harmonium::ais(path, chains_of(options_),
                              annealing(format("AIS, {} β", path.steps()), format("{}-{}", method, path.steps())));
    Estimate log_z = forward_->log_z;
    log_z.method = method + qualifier(options_);
    return {.log_z = log_z};
  }

  [[nodiscard]] AnnealingPath geometric(std::int64_t betas) {
    if (is_listed(options_)) return {base_, {machine_}, read_schedule(options_.schedule), sum_out_of(options_)};
    if (options_.schedule == "linear") return {base_, {machine_}, linear_schedule(betas), sum_out_of(options_)};
    const Progress progress = watcher_.begin("pilot run");
    return {base_,
            {machine_},
            adaptive_schedule(base_, machine_, betas,
                              {.seed = options_.seed, .sum_out = sum_out_of(options_), .progress = progress}),
            sum_out_of(options_)};
  }

  [[nodiscard]] AnnealingPath moment_averaged(std::int64_t betas) {
    State start;
    if (data_ != nullptr) start = rows_for(options_.raise_rows);
    return moment_averaged_path(base_, machine_, start, betas,
                                {.knots = options_.knots,
                                 .seed = options_.seed,
                                 .sum_out = sum_out_of(options_),
                                 .progress = watcher_.begin(format("fitting {} knots", options_.knots)),
                                 .journal = journal_,
                                 .name = format("knots-{}", options_.knots)});
  }

  // RAISE begins at rows of data and needs no more than them to know where it is: not so where a hidden layer stands in
  // the same block, as the upper ones of a deep machine do.
  [[nodiscard]] bool data_fill_a_block() const { return !machine_.hidden_joined(); }

  // Bounds on log Z from above, by rows of data and by samples of the model.
  void bound_by_data(const AnnealingPath& path, Findings& findings) {
    findings.raise_rows = std::min(options_.raise_rows, data_->rows());
    findings.raise = raise(path, rows_for(findings.raise_rows), options_.raise_chains,
                           annealing(format("RAISE, {} β", path.steps()), format("raise-{}", path.steps())))
                         .upper_log_z;
  }
  // And the last AIS, which must have been along the same path, put together with the latter.
  void bound_by_samples(const AnnealingPath& path, Findings& findings) {
    if (!samples_) samples_ = model_samples();
    const AisResult reverse =
        reverse_ais(path, samples_->state,
                    annealing(format("reverse AIS, {} β", path.steps()), format("reverse-{}", path.steps())));
    findings.reverse = average_bound(reverse, options_.seed);
    findings.reverse->method += " from " + samples_->how;
    if (forward_) findings.bennett = bennett(*forward_, reverse, options_.seed);
  }

 private:
  [[nodiscard]] BaseModel make_base(const JudgedMachine& judged) const {
    const BoltzmannMachine& machine = judged.machine;
    if (options_.base == "uniform") return uniform_base(machine);
    if (judged.base != nullptr) {
      std::string structure, wanted;
      for (const Layer& layer : judged.base->layers()) structure += layer.name + " " + layer.unit->spec() + " ";
      for (const Layer& layer : machine.layers()) wanted += layer.name + " " + layer.unit->spec() + " ";
      require(structure == wanted, "@base {}: it has layers {}, the model has {}", options_.base, structure, wanted);
      return {judged.base->to(machine.device()), options_.base};
    }
    if (!judged.data_moments.empty())
      return {machine.with_parameters(base_rate_parameters(machine, judged.data_moments)), "base rates"};
    if (data_ == nullptr)
      return {machine.with_parameters(base_rate_parameters(machine, Key(options_.seed).fold_in(0xBA5E))),
              "base rates of samples"};
    ObservedMoments moments;
    for (const std::size_t layer : machine.observed())
      moments.push_back(machine.unit(layer).moments(data_->layers[layer], {}));
    return {machine.with_parameters(base_rate_parameters(machine, moments)), "base rates of the data"};
  }

  [[nodiscard]] AnnealingOptions annealing(const std::string& what, const std::string& name) {
    return {.seed = options_.seed, .progress = watcher_.begin(what), .journal = journal_, .name = name};
  }

  // Rows of the data chosen at random, since many sets are in order of class.
  [[nodiscard]] State rows_for(std::int64_t count) const {
    const at::Tensor chosen = permutation(Key(options_.seed).fold_in(0x4015), data_->rows(), machine_.device())
                                  .narrow(0, 0, std::min(count, data_->rows()));
    State rows = *data_;
    for (at::Tensor& layer : rows.layers)
      if (layer.defined()) layer = layer.index_select(0, chosen);
    return rows;
  }

  struct Samples {
    State state;
    std::string how;
  };

  // Exact draws where there can be any; else long Gibbs chains, half of them from the data and half from the base, so
  // that modes of either kind are found.
  [[nodiscard]] Samples model_samples() {
    const Key key = Key(options_.seed).fold_in(0x5A3F);
    constexpr std::int64_t sweeps = 2'000, most_rows = 500;
    const std::int64_t rows = std::min(chains_of(options_), most_rows);
    if (can_enumerate(machine_, hasty_bits)) return {exact_sample(machine_, key, rows, hasty_bits), "exact draws"};
    State state = base_.draw(key.fold_in(0), rows);
    if (data_ != nullptr) {
      const State data = rows_for((rows + 1) / 2);
      for (const std::size_t layer : machine_.observed())
        state.layers[layer].narrow(0, 0, data.rows()).copy_(data.layers[layer]);
    }
    // Hidden layers first: a sweep begins with the observed block and would forget where it stands.
    (void)sample_layers(machine_, state, key.fold_in(1), machine_.hidden());
    const Progress progress = watcher_.begin("sampling the model");
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
      gibbs(machine_, state, key.fold_in(2).fold_in(static_cast<std::uint64_t>(sweep)));
      progress(sweep + 1, sweeps);
    }
    return {state, format("{} Gibbs sweeps", sweeps)};
  }

  BoltzmannMachine machine_;
  const State* data_;
  const EstimationOptions& options_;
  Watcher& watcher_;
  Journal* journal_;
  BaseModel base_;
  std::optional<Samples> samples_;
  std::optional<AisResult> forward_;  // of the last AIS
};

Findings sandwich(Estimator& estimator, bool data, std::int64_t betas) {
  const AnnealingPath path = estimator.geometric(betas);
  Findings findings = estimator.ais_along(path, "ais");
  if (data && estimator.data_fill_a_block()) estimator.bound_by_data(path, findings);
  estimator.bound_by_samples(path, findings);
  return findings;
}

// Twice the β until the two agree or the time is spent.
Findings growing_sandwich(Estimator& estimator, bool data, const EstimationOptions& options, Watcher& watcher) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const Clock::time_point start = Clock::now();
  for (std::int64_t betas = betas_of(options);; betas *= 2) {
    const Clock::time_point round = Clock::now();
    const Findings findings = sandwich(estimator, data, betas);
    const Sandwich both{findings.log_z, *findings.upper(options.gap)};
    if (both.agrees(options.gap)) return findings;
    const std::string standing =
        format("{} β: a gap of {} ± {} nats", betas, short_number(both.gap()), short_number(both.noise()));
    const double next = 2 * seconds_since(round), left = 60 * options.minutes - seconds_since(start);
    if (next > left) {
      watcher.say(format("{}. Twice as many would take {:.0f} s more, beyond @minutes {}", standing, next,
                         short_number(options.minutes)));
      return findings;
    }
    watcher.say(format("{}; now {} β", standing, 2 * betas));
  }
}

}  // namespace

void check(const EstimationOptions& options) {
  require(std::ranges::find(methods, options.method) != methods.end(),
          "unknown method '{}'; there are: auto, exact, ais, ma-ais, raise, sandwich", options.method);
  require(options.sum_out == "odd" || options.sum_out == "even", "@sum_out {}: there are odd and even",
          options.sum_out);
  require(options.rows_by == "auto" || options.rows_by == "mean_field" || options.rows_by == "ais",
          "@rows_by {}: there are auto, mean_field and ais", options.rows_by);
  require(options.row_chains >= 1, "@row_chains {}: give the number of chains, 1 or more", options.row_chains);
  require(options.row_betas >= 1, "@row_betas {}: give the number of steps, 1 or more", options.row_betas);
  require(options.chains >= 0, "@chains {}: give the number of chains, 1 or more", options.chains);
  require(options.betas >= 0, "@betas {}: give the number of steps, 1 or more", options.betas);
  require(options.raise_rows >= 1, "@raise_rows {}: give a number of rows, 1 or more", options.raise_rows);
  require(options.raise_chains >= 1, "@raise_chains {}: give a number of chains, 1 or more", options.raise_chains);
  require(options.knots >= 0, "@knots {}: give a number of knots, 0 or more", options.knots);
  require(options.importance >= 2, "@importance {}: give a number of draws, 2 or more", options.importance);
  require(options.orders == 0,
          "@orders {}: only an orderless_nade is judged by an ensemble of orders; leave @orders out", options.orders);
  require(options.gap > 0, "@gap {}: give a number of nats above 0", options.gap);
  require(options.minutes > 0, "@minutes {}: give a time above 0", options.minutes);
  require(!is_listed(options) || options.method == "ais" || options.method == "raise" || options.method == "sandwich",
          "@schedule {} applies to @method ais, raise and sandwich; auto and ma-ais choose their own schedule",
          options.schedule);
  require(options.method != "ma-ais" || options.schedule == "linear",
          "@schedule {}: ma-ais chooses its own schedule; leave @schedule out", options.schedule);
}

std::string method_for(const EstimationOptions& options, const BoltzmannMachine& machine) {
  if (options.method != "auto") return options.method;
  if (can_enumerate(machine.with_exact_units(), options.thorough ? enumeration_bits : hasty_bits)) return "exact";
  return options.thorough ? "auto" : "ais";
}

std::string method_text(const EstimationOptions& options, const BoltzmannMachine& machine) {
  const std::string method = method_for(options, machine);
  if (method == "exact" || method == "raise") return method;
  return (method == "ma-ais" ? method : "ais") + qualifier(options);
}

std::int64_t betas_of(const EstimationOptions& options) {
  if (is_listed(options)) return static_cast<std::int64_t>(read_schedule(options.schedule).size()) - 1;
  if (options.betas > 0) return options.betas;
  return options.method == "auto" && options.thorough ? 1'000 : 10'000;
}

bool found_the_same_way(const Evaluation& old, const EstimationOptions& options, const BoltzmannMachine& machine) {
  if (!old.log_z) return false;
  const std::string method = method_for(options, machine);
  if (method == "exact") return old.log_z->kind == EstimateKind::exact;
  const bool both = method == "auto" || method == "sandwich";
  if (old.gap.has_value() != both || old.log_z->method != method_text(options, machine)) return false;
  if (method == "auto") return Sandwich{*old.log_z, *old.upper_log_z}.agrees(options.gap);
  return old.log_z->betas == betas_of(options) &&
         old.log_z->chains == (method == "raise" ? options.raise_chains : chains_of(options));
}

Findings find_log_z(const JudgedMachine& given, const State* rows, const EstimationOptions& options, Watcher& watcher,
                    Journal* journal) {
  check(options);
  const BoltzmannMachine machine = given.machine.with_exact_units();
  const std::optional<BoltzmannMachine> base =
      given.base == nullptr ? std::nullopt : std::optional(given.base->with_exact_units());
  const JudgedMachine judged{.machine = machine, .data_moments = given.data_moments, .base = base ? &*base : nullptr};
  require_finite_z(judged.machine);
  const std::string method = method_for(options, judged.machine);
  if (method == "exact") return {.log_z = exact_log_z(judged.machine, patient_bits, watcher.begin("enumerating"))};
  require(method != "raise" || rows != nullptr, "@method raise bounds the log-likelihood of data: give @data");
  Estimator estimator(judged, rows, options, watcher, journal);
  require(method != "raise" || estimator.data_fill_a_block(),
          "@method raise starts at rows of data; where hidden layers are joined to each other, these are "
          "only part of a block's state. Use @method sandwich, which bounds log Z by samples of the model");
  const std::int64_t betas = betas_of(options);
  if (method == "auto") return growing_sandwich(estimator, rows != nullptr, options, watcher);
  if (method == "sandwich") return sandwich(estimator, rows != nullptr, betas);
  if (method == "ma-ais") return estimator.ais_along(estimator.moment_averaged(betas), "ma-ais");
  if (method == "ais") return estimator.ais_along(estimator.geometric(betas), "ais");
  Findings findings;
  estimator.bound_by_data(estimator.geometric(betas), findings);
  findings.log_z = *findings.raise;
  return findings;
}

}  // namespace harmonium
