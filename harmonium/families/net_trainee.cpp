#include "harmonium/families/net_trainee.h"

#include "harmonium/core/device.h"
#include "harmonium/families/net_model.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

Training make_net_training(const RunConfig& config, const RunData& data, const FeedForward& net, double adversarial) {
  const Key key(config.seed);
  const Loss loss = parse_loss(config.loss);
  BatchStream batches(data.train,
                      {.batch = config.batch,
                       .binarization = data.binarization,
                       .shrink = config.shrink,
                       .classes = loss == Loss::cross_entropy ? net.outputs() : 0},
                      key.fold_in(run_streams::batches), net.bias(0).device());
  return make_training(net, std::move(batches),
                       {.loss = loss,
                        .dropout = {.inputs = config.dropout_inputs, .hidden = config.dropout},
                        .adversarial = adversarial},
                       config.optimizer, step_options(config),
                       {.updates = config.updates,
                        .averaging = config.averaging,
                        .seed = key.fold_in(run_streams::updates).bits(),
                        .patience = config.patience});
}

class NetTrainee final : public Trainee {
 public:
  NetTrainee(const RunConfig& config, const RunData& data, TrainedNet start, double adversarial)
      : Trainee(make_net_training(config, data, start.net.to(at::TensorOptions().device(find_device(config.device))),
                                  adversarial)),
        config_(config),
        data_(data),
        start_(std::move(start)) {}

  [[nodiscard]] std::map<std::string, double> measure() override {
    constexpr std::int64_t watched_rows = 2000;  // of the training data, where there are no others
    const bool valid = data_.valid.rows() > 0;
    const NetErrors errors =
        net_errors(start_.net.with_parameters(training_.averaged()),
                   valid ? data_.valid : data_.train.first(watched_rows), data_.binarization, parse_loss(config_.loss));
    std::map<std::string, double> metrics = training_.take_measurements();
    if (valid) metrics["validation_loss"] = errors.loss;
    if (errors.misclassified) metrics["classification_error"] = *errors.misclassified;
    if (errors.squared) metrics["reconstruction_error"] = *errors.squared;
    if (errors.perplexity) metrics["perplexity"] = *errors.perplexity;
    if (config_.keep == "best") training_.observe_error(errors.misclassified.value_or(errors.loss));
    return metrics;
  }

  [[nodiscard]] std::unique_ptr<Model> model(const Training::Kept& of) const override {
    TrainedNet trained = start_;
    trained.net = trained.net.with_parameters(of.parameters);
    trained.notes["updates"] = std::to_string(of.update);
    if (!training_.best().empty()) trained.notes["chosen_by"] = config_.valid;
    return std::make_unique<NetModel>(std::move(trained));
  }

  [[nodiscard]] std::vector<std::string> closing_words(const Training::Kept& kept) const override {
    std::vector<std::string> words;
    if (update() < config_.updates)
      words.push_back(format("stopped after update {}: no new best for {} updates", update(), config_.patience));
    if (const BestModel& best = training_.best(); !best.empty())
      words.push_back(parse_loss(config_.loss) == Loss::cross_entropy
                          ? format("kept the net of update {}: {:.2f} % of the {} validation rows are misclassified",
                                   kept.update, 100 * best.error(), data_.valid.rows())
                          : format("kept the net of update {}: loss {:.4f} on {} validation rows", kept.update,
                                   best.error(), data_.valid.rows()));
    return words;
  }

 private:
  RunConfig config_;
  RunData data_;
  TrainedNet start_;
};

}  // namespace

std::unique_ptr<Trainee> make_net_trainee(const RunConfig& config, const RunData& data, TrainedNet start,
                                          double adversarial) {
  return std::make_unique<NetTrainee>(config, data, std::move(start), adversarial);
}

}  // namespace harmonium
