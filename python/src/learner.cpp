#include "learner.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/core/tensor_pool.h"
#include "harmonium/families/deep_machine_family.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/memory_estimate.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/rbm_chains.h"

namespace harmonium::python {

namespace {

TrainedMachine with_own_parameters(const Model& model) {
  TrainedMachine trained = *model.machine();
  trained.notes = model.info().notes;
  trained.machine =
      trained.machine.with_parameters(trained.machine.parameters().to(at::TensorOptions(at::kCPU)).clone());
  return trained;
}

std::optional<Stages> stages_of(const RunConfig& config, const RunData& data) {
  const Family& family = find_family(config.model);
  return family.stages == nullptr ? std::nullopt : family.stages(config, data);
}

// Whether the family's model is the machines of its stages.
bool is_stack(const RunConfig& config) { return find_family(config.model).read == read_belief_net_model; }

}  // namespace

RunConfig endless(RunConfig config) {
  config.updates = std::numeric_limits<std::int64_t>::max();
  if (config.schedule == "linear") config.schedule = "constant";
  if (config.schedule == "sqrt_linear") config.schedule = "sqrt";
  config.keep = "last";
  return config;
}

Learner::Learner(RunConfig config, RunData data) : config_(std::move(config)), data_(std::move(data)) {
  const Family& family = find_family(config_.model);
  require(family.has("gradient") && config_.start == "none" && (!is_stack(config_) || config_.pretrain == "none"),
          "models of family {} are trained by the tool", config_.model);
  resolve(config_, data_);
  require_memory(config_, data_);
  if (is_stack(config_)) {
    check_config(config_, data_);
  } else {
    initial_ = family.make(config_, data_, {});  // looks at all data, so once is enough
    (void)family.train(config_, data_, *initial_);
  }
  finished_.kind = config_.model;
  finished_.image = data_.train.image;
}

Learner::Learner(RunConfig config, TrainedStack model, std::int64_t update, NamedTensors state)
    : config_(std::move(config)), finished_(std::move(model)), state_(std::move(state)), update_(update) {}

void Learner::start_from(TrainedStack model) {
  const Moments wanted = initial_->parameters();
  const Moments& given = model.machines.back().machine.parameters();
  bool fits = wanted.entries().size() == given.entries().size();
  for (const auto& [name, value] : wanted.entries())
    fits = fits && given.contains(name) && given[name].sizes() == value.sizes();
  require(fits,
          "the model has other layers than the parameters ask for: it has {}, and @hidden or @layers, @visible say "
          "otherwise",
          model.machines.back().machine.layers().back().unit->spec());
  finished_ = std::move(model);
}

void Learner::learn(const LearnOptions& options) {
  set_device_precision(parse_precision(config_.precision));
  const ThreadScope threads(options.threads, find_family(config_.model).products(config_));
  const TensorPoolScope pool;
  try {
    if (is_stack(config_))
      learn_stack(*stages_of(config_, data_), options);
    else
      learn_machine(options);
  } catch (const RunFailure&) {
    throw;  // there is nothing to keep
  } catch (...) {
    put_away();
    throw;
  }
  put_away();
}

void Learner::learn_machine(const LearnOptions& options) {
  const Family& family = find_family(config_.model);
  std::unique_ptr<Model> start = initial_ ? std::move(initial_) : family.make(config_, data_, {});
  std::int64_t before = 0;
  if (const std::optional<Stages> stages = stages_of(config_, data_)) {
    run_ = family.train(config_, data_, *start);  // what an interruption leaves
    const StageModels learnt = pretrain(*stages, options);
    start = family.make(config_, data_, learnt);
    before = static_cast<std::int64_t>(stages->count) * stages->updates;
  }
  run_ = family.train(config_, data_, *start);
  loop(*run_, config_, options, before, before + config_.updates);
}

StageModels Learner::pretrain(const Stages& stages, const LearnOptions& options) {
  const std::int64_t total = static_cast<std::int64_t>(stages.count) * stages.updates + config_.updates;
  StageModels models;
  RunData seen = stages.data;
  for (std::size_t stage = 0; stage < stages.count; ++stage) {
    const RunConfig config = stages.config(stage);
    const Family& family = find_family(config.model);
    const std::unique_ptr<Trainee> run = family.train(config, seen, *family.make(config, seen, {}));
    loop(*run, config, options, static_cast<std::int64_t>(stage) * stages.updates, total);
    models.push_back(std::make_unique<MachineModel>(with_own_parameters(*run->kept())));
    if (stage + 1 < stages.count) seen = stages.encode(*models.back(), seen);
  }
  return models;
}

void Learner::learn_stack(const Stages& stages, const LearnOptions& options) {
  const std::int64_t total = static_cast<std::int64_t>(stages.count) * stages.updates;
  RunData seen = stages.data;
  for (std::size_t stage = 0; stage < stages.count; ++stage) {
    const RunConfig config = stages.config(stage);
    const Family& family = find_family(config.model);
    run_ = family.train(config, seen, *family.make(config, seen, {}));
    loop(*run_, config, options, static_cast<std::int64_t>(stage) * stages.updates, total);
    if (stage + 1 == stages.count) break;
    finished_.machines.push_back(with_own_parameters(*run_->kept()));
    seen = stages.encode(MachineModel(finished_.machines.back()), seen);
    run_.reset();
  }
}

void Learner::loop(Trainee& run, const RunConfig& config, const LearnOptions& options, std::int64_t before,
                   std::int64_t total) {
  using Clock = std::chrono::steady_clock;
  const bool measures = options.monitor || config.keep == "best";
  std::map<std::string, double> metrics;
  const double earlier = seconds_;
  Clock::time_point start = Clock::now();
  const auto clock = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto measure = [&] {
    run.training().wait();
    seconds_ = earlier + clock();
    const Clock::time_point begin = Clock::now();
    metrics = run.measure();
    start += Clock::now() - begin;  // measuring is not training
    std::map<std::string, double> line = metrics;
    line["update"] = static_cast<double>(before + run.update());
    line["seconds"] = seconds_;
    history_.push_back(std::move(line));
  };
  const double batches = static_cast<double>(config.batch), rows = static_cast<double>(data_.train.rows());
  const auto show = [&] {
    if (!options.show) return;
    options.show({.update = before + run.update(),
                  .total = total,
                  .seconds = seconds_,
                  .epoch = static_cast<double>(before + run.update()) * batches / rows,
                  .metrics = metrics});
  };
  Watch watch;
  if (measures) measure();
  while (!run.training().finished()) {
    run.training().step();
    if (measures && (run.update() % config.log_every == 0 || run.training().finished())) measure();
    watch.tick([&] {
      seconds_ = earlier + clock();
      show();
    });
  }
  run.training().wait();
  seconds_ = earlier + clock();
  if (options.show) {
    const py::gil_scoped_acquire gil;
    show();
  }
}

void Learner::learn_batch(RunData data, const LearnOptions& options) {
  data.binarization = parse_binarization(config_.binarize);
  const RunConfig config = endless(config_);
  const ThreadScope threads(options.threads, find_family(config.model).products(config));
  if (run_ == nullptr) {
    set_device_precision(parse_precision(config_.precision));
    const Family& family = find_family(config.model);
    std::unique_ptr<Model> start = !finished_.machines.empty()
                                       ? std::make_unique<MachineModel>(finished_.machines.back())
                                   : initial_ ? std::move(initial_)
                                              : family.make(config, data, {});
    initial_.reset();
    // Chains for a model that others have trained begin at data.
    NamedTensors chains;
    if (!finished_.machines.empty() && state_.empty())
      chains = chains_of_pretrained(start->machine()->machine, config, data);
    run_ = train_machine(config, data, *start->machine(), chains);
    if (!state_.empty()) run_->training().restore(update_, state_);
    finished_.machines.clear();
    state_.clear();
  }
  check_values(data.train, run_->current()->visible());
  learn_from(*run_, config, data);
  run_->training().step();
  update_ = run_->update();
  data_ = {};
}

void Learner::put_away() {
  data_ = {};
  if (run_ == nullptr) return;
  run_->training().check();
  update_ = run_->update();
  state_.clear();
  for (const auto& [name, value] : run_->training().state()) state_.emplace_back(name, value.cpu().clone());
  finished_.machines.push_back(with_own_parameters(*run_->kept()));
  finished_.notes = finished_.machines.front().notes;
  run_.reset();
}

TrainedStack Learner::model() const {
  TrainedStack model = finished_;
  if (run_ != nullptr) model.machines.push_back(with_own_parameters(*run_->current()));
  return model;
}

NamedTensors Learner::state() const { return run_ == nullptr ? state_ : run_->training().state(); }

std::vector<at::Tensor> Learner::chains() const {
  std::vector<at::Tensor> result;
  const NamedTensors all = state();
  for (std::size_t layer = 0;; ++layer) {
    const std::string name = format("negative_phase/particles.{}", layer);
    const auto found = std::ranges::find(all, name, &NamedTensors::value_type::first);
    if (found == all.end()) return result;
    result.push_back(found->second);
  }
}

}  // namespace harmonium::python
