#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/training/files/chain_pretraining.h"
#include "harmonium/training/files/counts_rates.h"
#include "harmonium/training/files/net_run.h"
#include "harmonium/training/files/run.h"
#include "harmonium/training/files/snapshots.h"
#include "harmonium/training/files/stack_run.h"
#include "harmonium/training/files/up_down_run.h"

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
  if (choice == "auto") choice = visible.starts_with("bernoulli") && !data.is_binary() ? "stochastic" : "none";
  return parse_binarization(choice);
}

// A deep machine has its hidden layers in `layers`, others have one in `hidden`.
void resolve_layers(RunConfig& config) {
  require(config.labels == "none" || config.labels == "top", "--labels {}: there are none and top", config.labels);
  require(config.labels == "none" || config.model == "dbm",
          "--labels top puts a label layer upon a dbm, and this is --model {}; an rbm with labels is --model "
          "classification_rbm",
          config.model);
  if (trains_net(config)) return;
  if (trains_stack(config)) {
    resolve_stack(config);
    return;
  }
  if (config.model != "dbm") {
    require(config.layers == "none",
            "--layers {} is about hidden layers one above the other, and --model {} has none; "
            "add --model dbm (or dbn, mlp, autoencoder), or use --hidden",
            config.layers, config.model);
    return;
  }
  require(config.layers != "none" && !config.layers.empty(),
          "--model dbm needs --layers: its hidden layers from the bottom up, such as 100,50");
  require(config.hidden == RunConfig().hidden || config.hidden == "none",
          "--hidden {}: a dbm has several hidden layers; give them all by --layers", config.hidden);
  config.hidden = "none";
  require(config.pretrain == "none" || config.pretrain == "rbm",
          "--pretrain {}: a dbm is pretrained by rbm, or not at all (none)", config.pretrain);
  if (config.pretrain != "none" && config.pretrain_updates == 0) config.pretrain_updates = config.updates;
}

std::string names_of(const std::vector<std::pair<std::string, std::string>>& table) {
  std::string names;
  for (const auto& [name, help] : table) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void check_numbers(const RunConfig& config) {
  const auto at_least = [](const char* flag, std::int64_t value, std::int64_t least) {
    require(value >= least, "{} must be at least {}, not {}", flag, least, value);
  };
  at_least("--updates", config.updates, 1);
  at_least("--pretrain-updates", config.pretrain_updates, 0);
  at_least("--batch", config.batch, 1);
  at_least("--sweeps", config.sweeps, 1);
  at_least("--sweeps-final", config.sweeps_final, 0);
  at_least("--mean-field-steps", config.mean_field_steps, 0);
  at_least("--rungs", config.rungs, 2);
  at_least("--particles", config.particles, 0);
  at_least("--log-every", config.log_every, 0);
  at_least("--checkpoint-every", config.checkpoint_every, 1);
  at_least("--statistics-every", config.statistics_every, 1);
  at_least("--refit-every", config.refit_every, 1);
  at_least("--rank", config.rank, 0);
  at_least("--iterations", config.iterations, 1);
  at_least("--track-chains", config.track_chains, 1);
  at_least("--track-betas", config.track_betas, 1);

  const auto not_negative = [](const char* flag, double value) {
    require(std::isfinite(value) && value >= 0, "{} must be a number that is not negative, not {}", flag, value);
  };
  not_negative("--rate-weights", config.rate_weights);
  not_negative("--rate-bias", config.rate_bias);
  not_negative("--initial-weights", config.initial_weights);
  not_negative("--weight-decay", config.weight_decay);
  not_negative("--weight-decay-l1", config.weight_decay_l1);
  not_negative("--sparsity-cost", config.sparsity_cost);
  require(config.sparsity_target > 0 && config.sparsity_target < 1,
          "--sparsity-target must lie between 0 and 1, not {}", config.sparsity_target);
  not_negative("--averaging", config.averaging);
  not_negative("--damping", config.damping);
  not_negative("--fast-rate", config.fast_rate);
  require(config.fast_decay >= 0 && config.fast_decay < 1, "--fast-decay must be at least 0 and below 1, not {}",
          config.fast_decay);
  require(config.damping_of == "centered" || config.damping_of == "plain",
          "--damping-of {}: there are centered and plain", config.damping_of);
  require(config.statistics_averaging > 0, "--statistics-averaging must be positive, not {}",
          config.statistics_averaging);
  not_negative("--checkpoint-minutes", config.checkpoint_minutes);
  require(config.schedule_tau > 0, "--schedule-tau must be positive, not {}", config.schedule_tau);
  require(config.momentum >= 0 && config.momentum < 1, "--momentum must be at least 0 and below 1, not {}",
          config.momentum);
  require(config.shrink >= 0 && config.shrink < 0.5, "--shrink must be at least 0 and below 0.5, not {}",
          config.shrink);
  require(std::isfinite(config.generative_weight) && config.generative_weight > 0,
          "--generative-weight must be positive, not {}; without a generative part: --objective discriminative",
          config.generative_weight);
  require(config.keep == "last" || config.keep == "best", "--keep {}: there are last and best", config.keep);
  (void)snapshot_updates(config.snapshots, config.updates);
  const std::vector<std::string> ways = {"none", "ais", "exact", "auto"};
  require(std::ranges::find(ways, config.track) != ways.end(), "--track {}: there are none, ais, exact and auto",
          config.track);
  // config.toml could not hold a larger one.
  require(config.seed <= std::numeric_limits<std::int64_t>::max(), "--seed must be at most 2^63 - 1, not {}",
          config.seed);
}

bool is_counts(const std::string& visible) { return visible.starts_with("counts"); }

// Documents: what is known of every row is its length, so chains start at data, and values are nothing but counts.
void resolve_counts(RunConfig& config, RunData& data) {
  if (config.gradient == "auto") config.gradient = is_counts(config.visible) && !trains_net(config) ? "cd" : "pcd";
  if (!is_counts(config.visible)) return;
  const std::vector<std::string> known = {"rbm", "classification_rbm", "mlp", "autoencoder"};
  require(std::ranges::find(known, config.model) != known.end(),
          "--model {} does not take word counts (--visible {}); there are: rbm, classification_rbm, mlp, autoencoder",
          config.model, config.visible);
  require(trains_net(config) || config.gradient == "cd" || config.gradient == "mf_cd",
          "--gradient {} makes up rows of its own, and how many words a document has is no part of a model of word "
          "counts; use cd or mf_cd, which start at documents",
          config.gradient);
  require(config.binarize == "auto" || config.binarize == "none", "--binarize {}: word counts stay as they are",
          config.binarize);
  require(config.shrink == 0, "--shrink {}: word counts stay as they are", config.shrink);
  require(config.track == "none", "--track {}: log-likelihoods of word counts depend on lengths, and are not tracked",
          config.track);
  data.train = as_counts(data.train);
  if (data.valid.rows() > 0) data.valid = as_counts(data.valid);
}

void resolve_optimizer(RunConfig& config) {
  // Means without noise, or no chains at all, say nothing about the covariances that fang looks at.
  if (config.optimizer == "auto")
    config.optimizer = config.objective != "generative" || config.gradient == "pl" || config.gradient == "mf_cd" ||
                               is_counts(config.visible)
                           ? "centering"
                           : "fang";
  require(std::ranges::any_of(metrics(), [&](const auto& metric) { return metric.first == config.optimizer; }),
          "unknown optimizer '{}'; there are: auto, {}", config.optimizer, names_of(metrics()));
}

void check_names(const RunConfig& config) {
  const std::vector<std::string> models = {"rbm", "classification_rbm", "mrf", "semi_restricted",   "dbm",
                                           "mlp", "autoencoder",        "dbn", "classification_dbn"};
  require(std::ranges::find(models, config.model) != models.end(),
          "unknown model '{}'; there are: rbm, classification_rbm, mrf, semi_restricted, dbm, dbn, classification_dbn, "
          "mlp, autoencoder",
          config.model);
  require(std::ranges::any_of(objectives(), [&](const auto& each) { return each.first == config.objective; }),
          "unknown objective '{}'; there are: {}", config.objective, names_of(objectives()));
  require(config.objective == "generative" || config.model == "classification_rbm",
          "--objective {} is about labels, and --model {} has none; add --model classification_rbm", config.objective,
          config.model);
}

}  // namespace

RunData resolve(RunConfig& config) {
  check_names(config);
  const CatalogOptions options{.limit = config.limit, .label_column = config.label_column};
  RunData data;
  data.train = open_dataset(config.data, options);
  if (config.valid == "auto") config.valid = automatic_valid(config.data);
  if (config.valid != "none") data.valid = open_dataset(config.valid, options);
  resolve(config, data);
  return data;
}

void resolve(RunConfig& config, RunData& data) {
  check_names(config);
  if (config.keep == "auto") config.keep = trains_net(config) && data.valid.rows() > 0 ? "best" : "last";
  require(config.keep != "best" || !is_learnt_from(config.valid, config.data),
          "--keep best would choose by {}, whose rows are among those of {} that are learnt from; train on {}:fit or "
          "give other validation data",
          config.valid, config.data, config.data.substr(0, config.data.find(':')));

  const std::int64_t columns = data.train.columns();
  if (config.visible == "auto") config.visible = data.train.counts ? "counts" : "bernoulli";
  if (config.visible == "counts") config.visible = format("counts:{}", columns);
  if (config.visible == "bernoulli") config.visible = format("bernoulli:{}", columns);
  if (config.visible == "gaussian") config.visible = format("gaussian:{}", columns);
  if (config.visible.starts_with("softmax:") && config.visible.find('x', 8) == std::string::npos) {
    const std::int64_t states = std::atoll(config.visible.c_str() + 8);
    require(states >= 2 && columns % states == 0, "--visible {}: {} columns are not groups of that many states",
            config.visible, columns);
    config.visible = format("softmax:{}x{}", columns / states, states);
  }
  resolve_counts(config, data);
  if (config.model == "mrf") config.hidden = "none";
  resolve_layers(config);
  if (trains_net(config) && config.binarize == "auto") config.binarize = "none";
  data.binarization = choose_binarization(config.binarize, data.train, config.visible);

  if (trains_net(config)) {
    resolve_net(config);
  } else if (!tunes_stack(config)) {
    require_no_net_options(config);
    resolve_optimizer(config);
  }
  if (config.rate_bias == 0 || config.rate_weights == 0) {
    const Rates rates = is_counts(config.visible)   ? counts_rates(mean_length(data.train), config.hidden)
                        : config.pretrain != "none" ? joint_rates(config)
                                                    : default_rates(config.optimizer, config.objective);
    if (config.rate_bias == 0) config.rate_bias = rates.bias;
    if (config.rate_weights == 0) config.rate_weights = rates.weights;
  }
  check_numbers(config);
  if (config.track != "none" && config.snapshots == "none") config.snapshots = "log";
  // Covariances between all layers of a deep machine from a hundred chains are noise that fang may follow.
  constexpr std::int64_t least_of_deep = 500;
  if (config.particles == 0)
    config.particles = config.model == "dbm" ? std::max(config.batch, least_of_deep) : config.batch;
  if (config.log_every == 0) config.log_every = std::max<std::int64_t>(1, config.updates / 200);
}

}  // namespace harmonium
