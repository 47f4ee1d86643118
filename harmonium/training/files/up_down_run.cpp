#include "harmonium/training/files/up_down_run.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/training/belief_net_monitor.h"
#include "harmonium/training/files/pretraining.h"
#include "harmonium/training/files/run_loop.h"
#include "harmonium/training/files/stack_run.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/objectives/wake_sleep.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// Streams of the run's seed, by purpose; the same numbers as for machines.
enum : std::uint64_t { up_down_batch_stream = 2, up_down_update_stream = 3, up_down_monitor_stream = 4 };

std::int64_t count_label_classes(const BeliefNet& net) {
  return net.labelled() ? net.top().unit(net.top().observed()[1]).width() : 0;
}

Training make_up_down(const RunConfig& config, const RunData& data, const BeliefNet& net) {
  const Key key(config.seed);
  BatchStream batches(data.train,
                      {.batch = config.batch,
                       .binarization = data.binarization,
                       .shrink = config.shrink,
                       .classes = count_label_classes(net)},
                      key.fold_in(up_down_batch_stream));
  auto top_phase = make_negative_phase(config.gradient, negative_phase_options(config));
  return make_training(
      net, std::move(batches), std::move(top_phase), config.optimizer, step_options(config),
      {.updates = config.updates, .averaging = config.averaging, .seed = key.fold_in(up_down_update_stream).bits()});
}

// The layers by themselves, learnt as those of nets are (files/pretraining.cpp).
RunConfig greedy_config(const RunConfig& config) {
  const RunConfig usual;
  RunConfig result = config;
  result.start = result.pretrain = "none";
  result.pretrain_updates = 0;
  result.updates = config.pretrain_updates;
  result.gradient = "pcd";
  result.sweeps = usual.sweeps;
  result.sweeps_final = usual.sweeps_final;
  result.mean_field_steps = usual.mean_field_steps;
  learn_layers_soon(result);
  result.log_every = std::max<std::int64_t>(1, config.pretrain_updates / 20);
  return result;
}

void check_start(const RunConfig& config, const RunData& data, const StackModel& start) {
  const BeliefNet net = start.net();
  require(start.kind == config.model, "--start {}: that is a {}, and --model asks for a {}", config.start, start.kind,
          config.model);
  require(layers_text(net.down) == config.layers, "--layers {}: the hidden layers of {} are {}", config.layers,
          config.start, layers_text(net.down));
  require(net.down.front().unit(0).spec() == config.visible,
          "{} has visible units '{}', and the data are learnt as '{}'; give data like those it was trained on, or "
          "--visible",
          config.start, net.down.front().unit(0).spec(), config.visible);
  if (!net.labelled()) return;
  const std::int64_t classes = count_label_classes(net);
  for (const Dataset* each : {&data.train, &data.valid}) {
    if (each->rows() == 0) continue;
    require(each->labels.defined(), "{} has no labels, and {} has a label to learn", each->name, config.start);
    require(each->labels.lt(0).logical_or(each->labels.ge(classes)).sum().item<std::int64_t>() == 0,
            "{} has classes that {} does not have: it knows 0 … {}", each->name, config.start, classes - 1);
  }
}

// A belief net under training, as the loop sees it.
class UpDownRun final : public Trainee {
 public:
  UpDownRun(const RunConfig& config, const RunData& data, StackModel model)
      : Trainee(make_up_down(config, data, model.net())),
        config_(config),
        data_(data),
        model_(std::move(model)),
        monitor_(data.train, data.valid, data.binarization, Key(config.seed).fold_in(up_down_monitor_stream).bits()) {}

  [[nodiscard]] std::map<std::string, double> measure() override {
    const BeliefNet averaged = averaged_belief_net(training_);
    std::map<std::string, double> metrics =
        monitor_.measure(averaged, training_.objective_as<WakeSleep>().drawn().asleep);
    if (config_.keep == "best") {
      metrics["classification_error"] = belief_net_error(averaged, data_.valid, data_.binarization);
      training_.observe_error(metrics["classification_error"]);
    }
    metrics.merge(training_.take_measurements());
    return metrics;
  }

  fs::path keep_snapshot(const fs::path&, double) override { throw std::logic_error("belief nets have no snapshots"); }
  std::int64_t write_final(const fs::path& file, const RunHooks& hooks) override {
    const Training::Kept kept = training_.kept();
    const BeliefNet net = with_parameters(belief_net_of(training_), kept.parameters);
    for (std::size_t i = 0; i < net.down.size(); ++i) model_.machines[i].machine = net.down[i];
    model_.recognition = MachineStack(net.up.begin(), net.up.end() - 1);
    model_.notes["updates"] = std::to_string(kept.update);
    if (const BestModel& best = training_.best(); !best.empty()) {
      model_.notes["chosen_by"] = config_.valid;
      hooks.message(format("kept the net of update {}: {:.2f} % of the {} validation rows are misclassified",
                           kept.update, 100 * best.error(), data_.valid.rows()));
    }
    keep_data_moments(net);
    write_stack(file, model_);
    return kept.update;
  }

 private:
  // What estimates of the top machine's log Z start from: averages of the data as the way up now shows them.
  void keep_data_moments(const BeliefNet& net) {
    constexpr std::int64_t enough_rows = 20'000;
    RunData seen{.train = data_.train.first(enough_rows), .valid = {}, .binarization = data_.binarization};
    for (std::size_t l = 0; l + 1 < net.up.size(); ++l) seen = encode_data(net.up[l], seen);
    Model& top = model_.machines.back();
    if (!top.data_moments.empty()) top.data_moments[0] = top.machine.unit(0).moments(seen.train.to_float(), {});
  }

  const RunConfig& config_;
  const RunData& data_;
  StackModel model_;
  BeliefNetMonitor monitor_;
};

}  // namespace

bool tunes_stack(const RunConfig& config) {
  return trains_stack(config) && (config.start != "none" || config.pretrain != "none");
}

void resolve_up_down(RunConfig& config) {
  require(config.start == "none" || config.pretrain == "none",
          "--pretrain {} and --start {}: a belief net begins with one or the other", config.pretrain, config.start);
  require(config.start != "none" || config.pretrain == "rbm",
          "--pretrain {}: the layers of a belief net are learnt by rbm, or not by themselves (none)", config.pretrain);
  require(config.pretrain != "none" || config.pretrain_updates == 0, "--pretrain-updates {} without --pretrain",
          config.pretrain_updates);
  if (config.pretrain != "none" && config.pretrain_updates == 0) config.pretrain_updates = config.updates;
  if (config.start != "none" && config.layers == "none")
    config.layers = layers_text(read_stack_model(config.start).stack());
  require(config.device == "cpu", "--device {}: belief nets are trained on by up–down on the CPU", config.device);
  require(config.sparsity_cost == 0, "--sparsity-cost {} is about one machine, and up–down trains all layers at once",
          config.sparsity_cost);
  // A belief net 784-200-200 of MNIST after 3000 updates: its bound rises from −98.4 to −96.2 (sgd, 0.05), −96.6 (0.2),
  // −95.5 (adam, 0.003) and −95.2 (0.01). Chains of pcd follow sgd (0.1: −96.0) but not adam (0.003: −97.5).
  if (config.optimizer == "auto") config.optimizer = config.gradient == "cd" ? "adam" : "sgd";
  require(config.optimizer == "sgd" || config.optimizer == "adam",
          "--optimizer {}: up–down steps by sgd (with --momentum) or adam", config.optimizer);
  if (config.rate_weights == 0) config.rate_weights = config.optimizer == "adam" ? 0.01 : 0.1;
  if (config.rate_bias == 0) config.rate_bias = config.rate_weights;
}

void check_up_down_config(const RunConfig& config, const RunData& data) {
  if (config.keep == "best") {
    require(data.valid.rows() > 0,
            "--keep best chooses by validation data, and there are none: give --valid, or train on a part that leaves "
            "some aside (such as mnist:fit)");
    require(data.valid.labels.defined(), "--keep best: validation data {} have no labels", config.valid);
  }
  require(count_stages(config) >= 2,
          "--layers {}: up–down trains ways up and down between hidden layers, of which at least two are needed",
          config.layers);
  (void)make_negative_phase(config.gradient, {});  // a wrong name shows here
  if (config.pretrain != "none") {
    check_stack_config(greedy_config(config), data);
    return;
  }
  const StackModel start = read_stack_model(config.start);
  check_start(config, data, start);
  (void)make_up_down(config, data, start.net());  // finds what else is wrong
}

RunResult run_up_down(const fs::path& folder, const RunConfig& config, const ConfigText& config_text,
                      const RunData& data, const RunHooks& hooks) {
  const fs::path start = folder / "start.safetensors";
  if (!fs::exists(start)) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) throw RunFailure(format("cannot create the run folder {}: {}", folder.string(), failure.message()));
    write_file_atomically(folder / "config.toml", config_text(config));
    StackModel model;
    if (config.pretrain != "none") {
      const fs::path place = folder / "pretraining";
      const RunResult before = run_stack_training(place, greedy_config(config), config_text, data, hooks);
      if (!before.finished) return before;
      hooks.message("the layers are learnt; now all of them together");
      model = read_stack_model(place);
      model.notes["start"] = "layers pretrained by " + config.pretrain;
    } else {
      model = read_stack_model(config.start);
      model.notes["start"] = "trained on by up-down from " + config.start;
    }
    model.notes["data"] = config.data;
    model.notes["binarization"] = to_string(data.binarization);
    model.notes["objective"] = "up-down";
    model.notes["gradient"] = config.gradient;
    model.notes["optimizer"] = config.optimizer;
    model.notes["seed"] = std::to_string(config.seed);
    write_stack(start, model);
  }
  UpDownRun run(config, data, read_stack_model(start));
  return run_loop(folder, config, config_text(config), hooks, run);
}

}  // namespace harmonium
