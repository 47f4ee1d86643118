#include "harmonium/families/resolve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/device.h"
#include "harmonium/core/named_table.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/memory_estimate.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/snapshot_updates.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/training/schedule.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

// "digits" and "digits:train" have "digits:valid"; a path or a set without such a part has none. The 60 000 training
// images of MNIST include those called mnist:valid, so only mnist:fit is watched with them.
std::string automatic_valid(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon), part = colon == std::string::npos ? "train" : spec.substr(colon + 1);
  for (const CatalogEntry& entry : list_datasets()) {
    if (entry.name != name) continue;
    const auto has = [&](const std::string& wanted) {
      return std::ranges::find(entry.parts, wanted, &CatalogPart::name) != entry.parts.end();
    };
    const bool separate = has("fit") ? part == "fit" : part == "train";
    if (separate && has("valid")) return name + ":valid";
  }
  return "none";
}

// Whether a set's own validation part is a piece of the part that is learnt from, as that of mnist:train is.
bool is_learnt_from(const std::string& valid, const std::string& data) {
  const std::size_t colon = data.find(':');
  const std::string part = colon == std::string::npos ? "train" : data.substr(colon + 1);
  return (part == "train" || part == "all") && valid == data.substr(0, colon) + ":valid" &&
         automatic_valid(data) != valid && std::ranges::any_of(list_datasets(), [&](const CatalogEntry& entry) {
           return entry.name == data.substr(0, colon);
         });
}

Binarization choose_binarization(std::string& choice, const Dataset& data, const std::string& visible) {
  if (choice == "auto")
    choice = unit_type(visible).support == Unit::Support::bits && !data.is_binary() ? "stochastic" : "none";
  return parse_binarization(choice);
}

void check_numbers(const RunConfig& config) {
  const auto at_least = [](const char* flag, std::int64_t value, std::int64_t least) {
    require(value >= least, "{} must be at least {}, not {}", flag, least, value);
  };
  at_least("@updates", config.updates, 1);
  at_least("@pretrain_updates", config.pretrain_updates, 0);
  at_least("@batch", config.batch, 1);
  at_least("@sweeps", config.sweeps, 1);
  at_least("@sweeps_final", config.sweeps_final, 0);
  at_least("@mean_field_steps", config.mean_field_steps, 0);
  at_least("@rungs", config.rungs, 2);
  at_least("@particles", config.particles, 0);
  at_least("@log_every", config.log_every, 0);
  at_least("@checkpoint_every", config.checkpoint_every, 1);
  at_least("@statistics_every", config.statistics_every, 1);
  at_least("@refit_every", config.refit_every, 1);
  at_least("@rank", config.rank, 0);
  at_least("@iterations", config.iterations, 1);
  at_least("@rate_warmup", config.rate_warmup, 0);
  at_least("@track_chains", config.track_chains, 1);
  at_least("@track_betas", config.track_betas, 1);

  const auto not_negative = [](const char* flag, double value) {
    require(std::isfinite(value) && value >= 0, "{} must be a number that is not negative, not {}", flag, value);
  };
  not_negative("@rate_weights", config.rate_weights);
  not_negative("@rate_bias", config.rate_bias);
  not_negative("@initial_weights", config.initial_weights);
  not_negative("@weight_decay", config.weight_decay);
  not_negative("@weight_decay_l1", config.weight_decay_l1);
  not_negative("@sparsity_cost", config.sparsity_cost);
  require(config.sparsity_target > 0 && config.sparsity_target < 1, "@sparsity_target must lie between 0 and 1, not {}",
          config.sparsity_target);
  not_negative("@averaging", config.averaging);
  not_negative("@damping", config.damping);
  not_negative("@fast_rate", config.fast_rate);
  require(config.fast_decay >= 0 && config.fast_decay < 1, "@fast_decay must be at least 0 and below 1, not {}",
          config.fast_decay);
  require(config.damping_of == "centered" || config.damping_of == "plain",
          "@damping_of {}: there are centered and plain", config.damping_of);
  require(std::isfinite(config.statistics_averaging) && config.statistics_averaging > 0,
          "@statistics_averaging must be a positive number, not {}", config.statistics_averaging);
  not_negative("@checkpoint_minutes", config.checkpoint_minutes);
  require(std::isfinite(config.schedule_tau) && config.schedule_tau > 0,
          "@schedule_tau must be a positive number, not {}", config.schedule_tau);
  require(config.momentum >= 0 && config.momentum < 1, "@momentum must be at least 0 and below 1, not {}",
          config.momentum);
  require(config.shrink >= 0 && config.shrink < 0.5, "@shrink must be at least 0 and below 0.5, not {}", config.shrink);
  require(std::isfinite(config.generative_weight) && config.generative_weight > 0,
          "@generative_weight must be positive, not {}; without a generative part: @objective discriminative",
          config.generative_weight);
  require(config.keep == "last" || config.keep == "best", "@keep {}: there are last and best", config.keep);
  (void)parse_schedule(config.schedule);
  (void)snapshot_updates(config.snapshots, config.updates);
  const std::vector<std::string> ways = {"none", "ais", "exact", "auto"};
  require(std::ranges::find(ways, config.track) != ways.end(), "@track {}: there are none, ais, exact and auto",
          config.track);
  // config.toml could not hold a larger one.
  require(config.seed <= std::numeric_limits<std::int64_t>::max(), "@seed must be at most 2^63 - 1, not {}",
          config.seed);
}

// About 200 lines of metrics, but of a short run no more than cost a fifth of its training, and at least ten. A line is
// about seven products with the weights for each of 500 rows, an update two for each row of the batch and
// 2 · sweeps + 1 for each particle.
std::int64_t usual_log_every(const RunConfig& config, const Family& family) {
  const std::int64_t usual = std::max<std::int64_t>(1, config.updates / 200);
  if (!family.has("particles")) return usual;
  constexpr std::int64_t line = 7 * 500, share = 5;
  const std::int64_t update = 2 * config.batch + (2 * config.sweeps + 1) * config.particles;
  const std::int64_t affordable = (share * line + update - 1) / update;
  return std::max(usual, std::min(affordable, std::max<std::int64_t>(1, config.updates / 10)));
}

void resolve_keep(RunConfig& config, const Family& family, const RunData& data) {
  if (config.keep != "auto") return;
  const bool counts =
      config.visible == "auto" ? data.train.counts : unit_type(config.visible).support == Unit::Support::counts;
  const bool chooses = (family.keeps_best || (family.keeps_likeliest && !counts)) && data.valid.rows() > 0 &&
                       !is_learnt_from(config.valid, config.data);
  config.keep = chooses ? "best" : "last";
}

// "bernoulli" as "bernoulli:64": unit types without a width get that of the data.
void resolve_visible(RunConfig& config, const Family& family, const Dataset& train) {
  if (config.visible == "auto")
    config.visible = train.counts                                                               ? "counts"
                     : family.real_values || config.binarize == to_string(Binarization::levels) ? "gaussian"
                                                                                                : "bernoulli";
  try {
    config.visible = fit_unit(config.visible, train.columns());
  } catch (const Error& error) {
    fail("@visible {}: {}", config.visible, error.marked());
  }
}

// What "auto" meant for the file that is learnt from: others are read in the same way.
void settle_reading(RunConfig& config, const Dataset& train) {
  if (is_named(config.data)) return;
  if (config.scale != "standardize") config.scale = train.divided_by == 1 ? "none" : format("{}", train.divided_by);
  if (train.labels.defined()) config.first_label = std::to_string(train.first_label);
}

// Softmax units learn from columns of whole numbers as well as from groups of columns of which one is 1.
void code_categories(RunConfig& config, RunData& data) {
  if (!config.visible.starts_with("softmax:")) return;
  const std::size_t cross = config.visible.find('x', 8);
  const bool resolved = cross != std::string::npos;
  const std::int64_t states = std::atoll(config.visible.c_str() + (resolved ? cross + 1 : 8));
  if (states < 2 || (resolved && std::atoll(config.visible.c_str() + 8) != data.train.columns())) return;
  require(config.first_category == "auto" || config.first_category == "0" || config.first_category == "1",
          "@first_category {}: there are auto, 0 and 1", config.first_category);
  std::optional<std::int64_t> first;
  if (config.first_category != "auto") first = std::atoll(config.first_category.c_str());
  data.train = one_hot_coded(data.train, states, first);
  if (data.valid.rows() > 0) data.valid = one_hot_coded(data.valid, states, first);
  if (first) config.first_category = std::to_string(*first);
}

// Documents: what is known of every row is its length, and values are nothing but counts.
void resolve_counts(const RunConfig& config, const Family& family, RunData& data) {
  if (unit_type(config.visible).support != Unit::Support::counts) return;
  require(family.word_counts, "@model {} does not model word counts (@visible {}); these do: {}", config.model,
          config.visible, names_of(families(), [](const Family& each) { return each.word_counts; }));
  require(config.binarize == "auto" || config.binarize == "none", "@binarize {}: word counts are not binarized",
          config.binarize);
  require(config.shrink == 0, "@shrink {}: word counts are not scaled", config.shrink);
  require(config.track == "none", "@track {}: log-likelihoods of word counts depend on lengths, and are not tracked",
          config.track);
  data.train = as_counts(data.train);
  if (data.valid.rows() > 0) data.valid = as_counts(data.valid);
}

bool differs_from_usual(const RunConfig& config, const std::string& option) {
  if (config.own.has(option)) return false;  // one of the family's own, which hides the shared one of that name
  const RunConfig usual;
  bool differs = false;
  RunConfig::visit(config, [&](const char* name, const auto& value, const char*) {
    if (name != option) return;
    RunConfig::visit(usual, [&](const char* other, const auto& usual_value, const char*) {
      if constexpr (std::is_same_v<decltype(value), decltype(usual_value)>)
        if (other == option) differs = value != usual_value;
    });
  });
  return differs;
}

// Fails where an option was given that belongs to other entries of a table than the one that is chosen.
template <class Table>
void require_owner(const RunConfig& config, const Table& table, const char* choice, const std::string& chosen) {
  for (const auto& each : table)
    for (const std::string& option : each.own_options) {
      const auto owns = [&](const auto& type) { return type.has(option); };
      const bool fits = std::ranges::any_of(table, [&](const auto& type) { return type.name == chosen && owns(type); });
      require(fits || !differs_from_usual(config, option), "@{} does not apply to @{} {}; it applies to {}", option,
              choice, chosen, names_of(table, owns));
    }
}

// Who can learn around missing values, and how; all others say that they cannot.
void check_missing(const RunConfig& config, const Family& family, const RunData& data) {
  if (data.train.missing == 0 && data.valid.missing == 0) return;
  const Dataset& lacking = data.train.missing > 0 ? data.train : data.valid;
  if (!family.missing_values) require_all_values(lacking, "@model " + config.model);
  const Unit::Support support = make_unit(config.visible)->support();
  if (support != Unit::Support::bits && support != Unit::Support::reals)
    require_all_values(lacking, "@visible " + config.visible);
  if (config.gradient == "pl") require_all_values(lacking, "@gradient pl");
  if (config.track != "none") require_all_values(lacking, "@track");
}

// An option that was given although what it is about was not chosen.
void require_use(const RunConfig& config) {
  require_owner(config, negative_phases(), "gradient", config.gradient);
  require_owner(config, metrics(), "optimizer", config.optimizer);
  require_owner(config, objectives(), "objective", config.objective);
}

}  // namespace

RunData resolve(RunConfig& config) {
  (void)find_family(config.model);
  const bool asks_for_valid = config.valid == "auto";
  // Counts are taken as they are stored, not as gray values. Data sets with a name know how they are read.
  if (config.visible != "auto" && config.scale == "auto" && !is_named(config.data) &&
      unit_type(config.visible).support == Unit::Support::naturals)
    config.scale = "none";
  const auto open = [&](const std::string& spec, const Reading& reading) {
    return open_dataset(spec, {.limit = config.limit, .reading = reading, .missing_values = true});
  };
  RunData data;
  data.train = open(config.data, reading_of(config));
  settle_reading(config, data.train);
  if (config.valid == "auto") config.valid = automatic_valid(config.data);
  if (config.valid == "none" && asks_for_valid)
    config.valid = part_beside(config.data, data.train, "valid").value_or("none");
  if (config.valid != "none") data.valid = open(config.valid, reading_for(config.valid, reading_of(config)));
  resolve(config, data);
  return data;
}

void resolve(RunConfig& config, RunData& data) {
  const Family& family = find_family(config.model);
  (void)find_named(objectives(), config.objective, "objective");
  resolve_keep(config, family, data);
  require(config.keep != "best" || !is_learnt_from(config.valid, config.data),
          "@keep best would choose by {}, whose rows are among those of {} that are learnt from; train on {}:fit or "
          "give other validation data",
          config.valid, config.data, config.data.substr(0, config.data.find(':')));
  code_categories(config, data);
  resolve_visible(config, family, data.train);
  check_standardization(config, family);
  resolve_counts(config, family, data);
  if (make_unit(config.visible)->support() == Unit::Support::bits) require_known_meaning(data.train);
  if (!family.binarizes && config.binarize == "auto") config.binarize = "none";
  data.binarization = choose_binarization(config.binarize, data.train, config.visible);
  check_dequantization(config, family, data);
  check_gray_levels(config, family, data);
  check_missing(config, family, data);
  family.resolve(config, data);
  check_numbers(config);
  if (config.track != "none" && config.snapshots == "none") config.snapshots = "log";
  if (config.particles == 0) config.particles = config.batch;
  if (config.log_every == 0) config.log_every = usual_log_every(config, family);
}

PreparedRun check_config(const RunConfig& config, const RunData& data) {
  (void)find_device(config.device);
  (void)parse_precision(config.precision);
  require_use(config);
  require_memory(config, data);
  const Family& family = find_family(config.model);
  if (family.check != nullptr) {
    family.check(config, data);
    return {};
  }
  PreparedRun run{.start = family.make(config, data, {}), .trainee = nullptr};
  run.trainee = family.train(config, data, *run.start);
  return run;
}

}  // namespace harmonium
