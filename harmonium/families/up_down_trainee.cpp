#include "harmonium/families/up_down_trainee.h"

#include "harmonium/core/device.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/training/belief_net_monitor.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/objectives/wake_sleep.h"

namespace harmonium {

namespace {

Training make_up_down(const RunConfig& config, const RunData& data, const BeliefNet& net) {
  const Key key(config.seed);
  BatchStream batches(data.train,
                      {.batch = config.batch,
                       .binarization = data.binarization,
                       .shrink = config.shrink,
                       .classes = count_label_classes(net)},
                      key.fold_in(run_streams::batches), net.top().device());
  auto top_phase = make_negative_phase(config.gradient, negative_phase_options(config));
  return make_training(
      net, std::move(batches), std::move(top_phase), config.optimizer, step_options(config),
      {.updates = config.updates, .averaging = config.averaging, .seed = key.fold_in(run_streams::updates).bits()});
}

class UpDownTrainee final : public Trainee {
 public:
  UpDownTrainee(const RunConfig& config, const RunData& data, TrainedStack start)
      : Trainee(make_up_down(config, data, moved_to(start.net(), find_device(config.device)))),
        data_(data),
        valid_(config.valid),
        chooses_(config.keep == "best"),
        start_(std::move(start)),
        monitor_(data.train, data.valid, data.binarization, Key(config.seed).fold_in(run_streams::monitor).bits()) {}

  [[nodiscard]] std::map<std::string, double> measure() override {
    const BeliefNet averaged = averaged_belief_net(training_);
    std::map<std::string, double> metrics =
        monitor_.measure(moved_to(averaged, at::kCPU), training_.objective_as<WakeSleep>().drawn().asleep);
    if (chooses_) {
      metrics["classification_error"] = belief_net_error(averaged, data_.valid, data_.binarization);
      training_.observe_error(metrics["classification_error"]);
    }
    metrics.merge(training_.take_measurements());
    return metrics;
  }

  [[nodiscard]] std::unique_ptr<Model> model(const Training::Kept& of) const override {
    TrainedStack trained = start_;
    const BeliefNet net = moved_to(with_parameters(belief_net_of(training_), of.parameters), at::kCPU);
    for (std::size_t i = 0; i < net.down.size(); ++i) trained.machines[i].machine = net.down[i];
    trained.recognition = MachineStack(net.up.begin(), net.up.end() - 1);
    trained.notes["updates"] = std::to_string(of.update);
    if (!training_.best().empty()) trained.notes["chosen_by"] = valid_;
    keep_data_moments(trained, net);
    return std::make_unique<BeliefNetModel>(std::move(trained));
  }

  [[nodiscard]] std::vector<std::string> closing_words(const Training::Kept& kept) const override {
    if (training_.best().empty()) return {};
    return {format("kept the net of update {}: {:.2f} % of the {} validation rows are misclassified", kept.update,
                   100 * training_.best().error(), data_.valid.rows())};
  }

 private:
  // What estimates of the top machine's log Z start from: averages of the data as the way up now shows them.
  void keep_data_moments(TrainedStack& trained, const BeliefNet& net) const {
    constexpr std::int64_t enough_rows = 20'000;
    RunData seen{.train = data_.train.first(enough_rows), .valid = {}, .binarization = data_.binarization};
    for (std::size_t l = 0; l + 1 < net.up.size(); ++l) seen = encode_data(net.up[l], seen);
    TrainedMachine& top = trained.machines.back();
    if (!top.data_moments.empty()) top.data_moments[0] = top.machine.unit(0).moments(seen.train.to_float(), {});
  }

  RunData data_;
  std::string valid_;
  bool chooses_;
  TrainedStack start_;
  BeliefNetMonitor monitor_;
};

}  // namespace

std::int64_t count_label_classes(const BeliefNet& net) {
  return net.labelled() ? net.top().unit(net.top().observed()[1]).width() : 0;
}

std::unique_ptr<Trainee> make_up_down_trainee(const RunConfig& config, const RunData& data, TrainedStack start) {
  return std::make_unique<UpDownTrainee>(config, data, std::move(start));
}

}  // namespace harmonium
