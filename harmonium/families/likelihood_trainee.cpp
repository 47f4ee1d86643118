#include "harmonium/families/likelihood_trainee.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/data/binarize.h"
#include "harmonium/families/machine_training.h"

namespace harmonium {

namespace {

Training make_training(std::unique_ptr<Objective> objective, std::unique_ptr<Optimizer> optimizer,
                       const RunConfig& config, const RunData& data, bool sequences) {
  const Key key(config.seed);
  if (optimizer == nullptr) optimizer = make_optimizer(config.optimizer, objective->groups(), objective->parameters());
  const at::Device device = objective->parameters().entries().front().second.device();
  BatchStream batches(
      data.train,
      {.batch = config.batch, .binarization = data.binarization, .shrink = config.shrink, .sequences = sequences},
      key.fold_in(run_streams::batches), device);
  return {std::move(objective), std::move(optimizer), std::move(batches), step_options(config),
          TrainingOptions{.updates = config.updates,
                          .averaging = config.averaging,
                          .seed = key.fold_in(run_streams::updates).bits(),
                          .patience = config.patience}};
}

class LikelihoodTrainee final : public Trainee {
 public:
  LikelihoodTrainee(std::unique_ptr<Objective> objective, const RunConfig& config, const RunData& data,
                    LikelihoodHooks hooks)
      : Trainee(make_training(std::move(objective), std::move(hooks.optimizer), config, data,
                              hooks.mean_of_sequences != nullptr)),
        hooks_(std::move(hooks)),
        chooses_(config.keep == "best"),
        valid_(data.valid.rows() > 0 ? config.valid : "") {
    constexpr std::int64_t most_rows = 1000, most_sequences = 200;
    const Dataset& all = data.valid.rows() > 0 ? data.valid : data.train;
    const Dataset few = hooks_.mean_of_sequences && !all.lengths.empty()
                            ? all.select_cases(at::arange(std::min(most_sequences, all.cases()), at::kLong))
                            : all.first(most_rows);
    const Dataset watched = binarize(few, data.binarization, Key(config.seed).fold_in(run_streams::monitor).bits());
    watched_ = watched.to_float();
    if (hooks_.mean_of_sequences)
      hooks_.mean = [of_sequences = hooks_.mean_of_sequences, watched](const Moments& parameters, const at::Tensor&) {
        return of_sequences(parameters, watched);
      };
  }

  [[nodiscard]] NamedTensors state() const override {
    NamedTensors all = training_.state();
    if (hooks_.normalizer)
      for (auto& entry : hooks_.normalizer->log_z.state()) all.push_back(std::move(entry));
    return all;
  }
  void restore(std::int64_t update, const NamedTensors& saved) override {
    training_.restore(update, saved);
    if (hooks_.normalizer) hooks_.normalizer->log_z.restore(saved);
  }

  [[nodiscard]] std::map<std::string, double> measure() override {
    std::map<std::string, double> metrics = training_.take_measurements();
    if (!hooks_.mean) {
      std::map<std::string, double> found = hooks_.measures(training_.averaged(), watched_);
      if (chooses_ && !hooks_.kept_by.empty()) training_.observe_error(found.at(hooks_.kept_by));
      metrics.merge(found);
      return metrics;
    }
    double mean = hooks_.mean(training_.averaged(), watched_);
    if (hooks_.normalizer) {
      const std::optional<double> log_z = followed_log_z(metrics);
      lost_ = !log_z;
      if (lost_) return metrics;
      mean -= *log_z;
    }
    metrics[valid_.empty() ? "watched_log_likelihood" : "validation_log_likelihood"] = mean;
    if (chooses_) training_.observe_error(-mean);
    return metrics;
  }

  [[nodiscard]] std::unique_ptr<Model> model(const Training::Kept& of) const override {
    std::unique_ptr<Model> result = hooks_.model(of.parameters);
    result->info().notes["updates"] = std::to_string(of.update);
    if (!training_.best().empty()) result->info().notes["chosen_by"] = valid_;
    return result;
  }

  [[nodiscard]] std::vector<std::string> closing_words(const Training::Kept& kept) const override {
    if (chooses_ && lost_ && training_.best().empty())
      return {format("kept the last model: none could be chosen by validation data, because {}", lost_log_z)};
    if (training_.best().empty() || (kept.update == update() && !lost_)) return {};
    if (!hooks_.mean)
      return {format("kept the model of update {}: {} {:.5g} on {} validation rows", kept.update, hooks_.kept_by,
                     training_.best().error(), watched_.size(0))};
    return {format("kept the model of update {}: {:.3f} nats on {} validation rows{}", kept.update,
                   -training_.best().error(), watched_.size(0),
                   lost_ ? format(". Later ones were not compared: {}", lost_log_z) : "")};
  }

 private:
  static constexpr const char* lost_log_z =
      "the chains that follow log Z of the prior during training were left behind (validation_effective_samples below "
      "25). An evaluation afterwards estimates log Z anew; a smaller @prior_rate is easier to follow";

  // Of the averaged model; nothing where it is not known well enough.
  [[nodiscard]] std::optional<double> followed_log_z(std::map<std::string, double>& metrics) {
    auto& [machine, follower] = *hooks_.normalizer;
    const double log_z = follower.log_z(machine(training_.averaged()), update());
    if (const auto effective = follower.effective_samples()) metrics["validation_effective_samples"] = *effective;
    if (!follower.trusted() || !std::isfinite(log_z)) return std::nullopt;
    metrics["prior_log_z"] = log_z;
    return log_z;
  }

  LikelihoodHooks hooks_;
  bool chooses_;
  std::string valid_;
  at::Tensor watched_;
  bool lost_ = false;  // whether log Z was, when it was last looked at
};

}  // namespace

void resolve_likelihood(RunConfig& config, double adam_rate) {
  if (config.optimizer == "auto") config.optimizer = "adam";
  const auto type = std::ranges::find(optimizers(), config.optimizer, &OptimizerType::name);
  require(type != optimizers().end(), "@optimizer {}: this model is trained by one of {} (sgd with @momentum)",
          config.optimizer, names_of(optimizers()));
  if (config.rate_weights == 0) config.rate_weights = type->usual_rate > 0 ? type->usual_rate : adam_rate;
  if (config.rate_bias == 0) config.rate_bias = config.rate_weights;
  require(config.patience == 0 || config.keep == "best",
          "@patience stops where validation data get no better, and nothing is kept by them: add @valid, or @keep "
          "best");
}

ModelInfo initial_info(const RunConfig& config, const RunData& data) {
  return {.family = config.model,
          .image = data.train.image,
          .notes = {{"data", config.data},
                    {"binarization", to_string(data.binarization)},
                    {"optimizer", config.optimizer},
                    {"seed", std::to_string(config.seed)}}};
}

void check_rows(const RunData& data, const Unit& visible) {
  check_values(data.train, visible);
  if (data.valid.rows() == 0) return;
  require(data.valid.columns() == data.train.columns(), "validation data {} have {} columns, training data {} have {}",
          data.valid.name, data.valid.columns(), data.train.name, data.train.columns());
  check_values(data.valid, visible);
}

std::unique_ptr<Trainee> train_by_likelihood(std::unique_ptr<Objective> objective, const RunConfig& config,
                                             const RunData& data, LikelihoodHooks hooks) {
  require(config.keep != "best" || data.valid.rows() > 0,
          "@keep best chooses by validation data, and there are none: give @valid, or train on a part that leaves "
          "some aside (such as mnist:fit)");
  return std::make_unique<LikelihoodTrainee>(std::move(objective), config, data, std::move(hooks));
}

Evaluation judge_by_rows(const TestData& test, const Unit& visible,
                         const std::function<JudgedRows(const at::Tensor& rows)>& judge_rows) {
  Evaluation evaluation;
  evaluation.data = test.spec;
  evaluation.n = test.rows.rows();
  evaluation.binarization = test.binarization;
  evaluation.draws = test.draws;
  double sum = 0, squares = 0, low = 0, high = 0;
  for (int draw = 0; draw < test.draws; ++draw) {
    const at::Tensor rows = test.draw(draw).to_float();
    const std::string complaint = visible.complaint(rows);
    require(complaint.empty(), "{}: {}", test.spec, complaint);
    const JudgedRows judged = judge_rows(rows);
    const Estimate& one = judged.mean;
    const at::Tensor share = on_cpu(judged.each).to(at::kDouble) / static_cast<double>(test.draws);
    evaluation.of_rows = draw == 0 ? share : evaluation.of_rows + share;
    sum += one.value;
    squares += one.value * one.value;
    low += one.low;
    high += one.high;
    evaluation.log_likelihood = one;
  }
  const double n = test.draws;
  evaluation.log_likelihood->value = sum / n;
  evaluation.log_likelihood->low = low / n;
  evaluation.log_likelihood->high = high / n;
  if (test.draws > 1) evaluation.draw_spread = std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
  return evaluation;
}

}  // namespace harmonium
