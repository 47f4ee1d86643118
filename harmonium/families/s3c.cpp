// The family s3c (models/directed/s3c.h): spike-and-slab sparse coding of real values, trained by variational EM: mean
// field for a batch, then a step up the bound at that posterior.
#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/families/hidden_units.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/s3c_model.h"
#include "harmonium/kernels/random.h"
#include "harmonium/training/objectives/running_mean.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

struct S3cOptions {
  std::string whiten = "columns";
  std::int64_t rounds = 20;
  double noise = 0.01;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("whiten", self.whiten,
            "what training sees: columns (each divided by its standard deviation), zca (mean 0, covariance I), none; "
            "likelihoods and samples stay in the units of the data");
    visitor("rounds", self.rounds, "rounds of mean field for every batch");
    visitor("noise", self.noise, "least variance of the noise, as a share of a column's variance");
  }
};

// What training starts from and stays within: moments of columns as it sees them, and limits that follow from them.
// Variances of slabs, 1/α, stay within [10⁻³, 10³] of the mean variance of a column, where columns of W have length 1;
// variances of the noise are at least a share of each column's.
struct S3cLimits {
  at::Tensor mean, variance;
  double log_scale = 0;  // of the mean variance
  at::Tensor most_log_precision;
  static constexpr double log_range = 6.907755278982137;  // log 1000

  S3cLimits(const at::Tensor& rows, const S3cOptions& own) : mean(rows.mean(0)) {
    constexpr double least_share = 1e-4;
    const at::Tensor found = (rows - mean).square().mean(0);
    // Whitening has decided already what a column that hardly changes counts as.
    variance = own.whiten == "none" ? found.clamp_min(std::max(least_share * found.mean().item<double>(), 1e-30))
                                    : at::ones_like(found);
    log_scale = variance.mean().log().item<double>();
    most_log_precision = -(own.noise * variance).log().to(at::kFloat);
  }
};

at::Tensor rows_of_start(const RunConfig& config, const RunData& data, const Whitening& whitening) {
  constexpr std::int64_t most = 10'000;
  return whitening.apply(with_noise(data.train, data.binarization, noise_key(config)).first(most).to_float());
}

// Ascent of the bound that keeps parameters within their limits, and counts what is at them.
class S3cAscent final : public Objective {
 public:
  S3cAscent(const S3c& model, const S3cMeanFieldOptions& options, double volume, S3cLimits limits)
      : active_(std::make_shared<RunningMean>("active_units", model.parameters()["weights"])),
        limits_(std::move(limits)),
        ascent_(model.parameters(),
                {{.names = {"weights"}, .kind = ParameterKind::weights},
                 {.names = {"visible.bias", "spike.bias", "slab.mean"}, .kind = ParameterKind::bias},
                 {.names = {"visible.log_precision", "slab.log_precision"}, .kind = ParameterKind::other}},
                "log_likelihood",
                [options, volume, active = active_](const Moments& leaves, const std::vector<at::Tensor>& batch,
                                                    const Step&) {
                  const S3cTerms terms(leaves);
                  const S3cPosterior q = s3c_mean_field(terms, batch.front(), options);
                  active->add(q.spikes.sum(1).mean());
                  const at::Tensor bound = s3c_bound(terms, batch.front(), q).mean();
                  return SurrogateAscent::Value{.climbed = bound, .shown = bound + volume};
                }) {
    after_step();
  }

  [[nodiscard]] Moments& parameters() override { return ascent_.parameters(); }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return ascent_.groups(); }
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override {
    return ascent_.gradient(batch, step);
  }
  void after_step() override {
    Moments& theta = ascent_.parameters();
    theta.copy_(s3c_canonical(theta));
    theta["visible.log_precision"].copy_(at::min(theta["visible.log_precision"], limits_.most_log_precision));
    theta["slab.log_precision"].clamp_(-S3cLimits::log_range - limits_.log_scale,
                                       S3cLimits::log_range - limits_.log_scale);
  }
  [[nodiscard]] std::map<std::string, double> take_measurements() override {
    std::map<std::string, double> found = ascent_.take_measurements();
    found.merge(active_->take());
    const auto count = [](const at::Tensor& which) { return which.sum().to(at::kDouble).item<double>(); };
    const Moments& theta = ascent_.parameters();
    constexpr double near = 1e-5;  // of float32
    found["noise_at_limit"] = count(theta["visible.log_precision"].ge(limits_.most_log_precision - near));
    found["slabs_at_limit"] =
        count((theta["slab.log_precision"] + limits_.log_scale).abs().ge(S3cLimits::log_range - near));
    return found;
  }
  [[nodiscard]] NamedTensors state() const override {
    NamedTensors all = ascent_.state();
    all.emplace_back("active_units", active_->state());
    return all;
  }
  void restore(const NamedTensors& saved) override {
    ascent_.restore(saved);
    active_->restore(find_tensor(saved, "active_units", "a checkpoint"));
  }

 private:
  std::shared_ptr<RunningMean> active_;
  S3cLimits limits_;
  SurrogateAscent ascent_;
};

void resolve(RunConfig& config, RunData&) {
  const auto& own = config.own.as<S3cOptions>();
  require(make_unit(config.visible)->support() == Unit::Support::reals,
          "@visible {}: s3c models real values; use @visible gaussian", config.visible);
  require(own.whiten == "zca" || own.whiten == "columns" || own.whiten == "none",
          "@whiten {}: there are zca, columns and none", own.whiten);
  constexpr std::int64_t most_rounds = 10'000;
  require(own.rounds >= 1 && own.rounds <= most_rounds, "@rounds {}: give a number of rounds from 1 to {}", own.rounds,
          most_rounds);
  require(std::isfinite(own.noise) && own.noise > 0, "@noise must be positive, not {}", own.noise);
  require(config.device == "cpu", "@device {}: @model {} is trained on the CPU only", config.device, config.model);
  (void)hidden_units(config, "spike-and-slab units");
  // Biases and precisions have further to go than columns of length 1.
  constexpr double usual_rate = 0.005, faster = 4;
  const bool given = config.rate_bias != 0;
  resolve_likelihood(config, usual_rate);
  if (!given) config.rate_bias = faster * config.rate_weights;
}

// Columns of W begin in random directions, slabs at the width of values as training sees them.
std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  constexpr double log_odds = -2;
  check_rows(data, *make_unit(config.visible));
  const auto& own = config.own.as<S3cOptions>();
  Whitening whitening = whitening_of(with_noise(data.train, data.binarization, noise_key(config)), own.whiten);
  const S3cLimits limits(rows_of_start(config, data, whitening), own);
  S3c model({.inputs = data.train.columns(), .hidden = hidden_units(config)});
  const Key key = Key(config.seed).fold_in(run_streams::initial);
  Moments& theta = model.parameters();
  const at::Tensor filters = normal(key, theta["weights"].sizes(), at::kDouble);
  theta["weights"].copy_(filters / filters.norm(2, 0));
  theta["visible.bias"].copy_(limits.mean);
  theta["visible.log_precision"].copy_(-limits.variance.log());
  theta["spike.bias"].fill_(log_odds);
  theta["slab.log_precision"].fill_(-limits.log_scale);
  ModelInfo info = initial_info(config, data);
  info.notes["whiten"] = own.whiten;
  return std::make_unique<S3cModel>(std::move(info), std::move(model), std::move(whitening));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const S3cModel&>(start);
  const auto& own = config.own.as<S3cOptions>();
  const Whitening& whitening = begun.whitening();
  RunData seen = data;
  seen.train = whitened(data.train, whitening);
  if (data.valid.rows() > 0) seen.valid = whitened(data.valid, whitening);
  const S3c model = begun.model().to(at::kCPU);
  const double volume = whitening.log_determinant();
  const S3cMeanFieldOptions inference{.rounds = own.rounds};
  return train_by_likelihood(
      std::make_unique<S3cAscent>(model, inference, volume, S3cLimits(rows_of_start(config, data, whitening), own)),
      config, seen,
      {.mean =
           [inference, volume](const Moments& parameters, const at::Tensor& rows) {
             const S3cTerms terms(parameters);
             return s3c_bound(terms, rows, s3c_mean_field(terms, rows, inference)).mean().item<double>() + volume;
           },
       .model = [model, whitening, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<S3cModel>(info, model.with_parameters(s3c_canonical(parameters)), whitening);
       }});
}

ModelSize size_of(const RunConfig& config) {
  return size_of_chain(
      {static_cast<double>(make_unit(config.visible)->width()), static_cast<double>(hidden_units(config))});
}

}  // namespace

Family s3c_family() {
  namespace groups = option_groups;
  std::vector<std::string> options = groups::joined({groups::common(), groups::tracked(), {"hidden", "patience"}});
  // A penalty on the length of columns means nothing where that is always 1.
  for (const char* other : {"shrink", "precision", "weight_decay"}) std::erase(options, other);
  return {.name = "s3c",
          .title = "Spike-and-slab sparse coding",
          .help =
              "spike-and-slab sparse coding (S3C) of real values, trained by variational EM: exact log-likelihood "
              "with few hidden units, else bounded by importance sampling",
          .example = "harmonium train --data digits --model s3c --hidden 64 --updates 500",
          .options = options,
          .own = OwnOptions(S3cOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read_s3c,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                const auto hidden = static_cast<double>(hidden_units(config)),
                           rounds = static_cast<double>(config.own.as<S3cOptions>().rounds);
                return 2 * static_cast<double>(config.batch) * hidden * hidden * rounds +
                       (3 * static_cast<double>(config.batch) + hidden) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                return format("{} – {} spike-and-slab units; variational em", config.visible, config.hidden);
              },
          .dequantizes = true,
          .real_values = true,
          .binarizes = false,
          .keeps_best = true};
}

}  // namespace harmonium
