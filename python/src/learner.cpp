#include "learner.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/core/tensor_pool.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/models/pretrained_chain.h"
#include "harmonium/training/files/chain_pretraining.h"
#include "harmonium/training/files/net_run.h"
#include "harmonium/training/files/stack_run.h"

namespace harmonium::python {

namespace {

Model with_own_parameters(Model model) {
  model.machine = model.machine.with_parameters(model.machine.parameters().to(at::TensorOptions(at::kCPU)).clone());
  return model;
}

}  // namespace

RunConfig endless(RunConfig config) {
  config.updates = std::numeric_limits<std::int64_t>::max();
  if (config.schedule == "linear") config.schedule = "constant";
  if (config.schedule == "sqrt_linear") config.schedule = "sqrt";
  config.keep = "last";
  return config;
}

Learner::Learner(RunConfig config, RunData data) : config_(std::move(config)), data_(std::move(data)) {
  require(config_.model != "mlp" && config_.model != "autoencoder", "nets of model {} are trained by the tool",
          config_.model);
  resolve(config_, data_);
  if (trains_stack(config_)) {
    check_config(config_, data_);
  } else {
    initial_ = initial_model(config_, data_);  // looks at all data, so once is enough
    check_config(config_, data_, *initial_);
  }
  finished_.kind = config_.model;
  finished_.image = data_.train.image;
}

Learner::Learner(RunConfig config, StackModel model, std::int64_t update, NamedTensors state)
    : config_(std::move(config)), finished_(std::move(model)), state_(std::move(state)), update_(update) {}

void Learner::start_from(StackModel model) {
  const Moments& wanted = initial_.value().machine.parameters();
  const Moments& given = model.machines.back().machine.parameters();
  bool fits = wanted.entries().size() == given.entries().size();
  for (const auto& [name, value] : wanted.entries())
    fits = fits && given.contains(name) && given[name].sizes() == value.sizes();
  require(fits,
          "the model has other layers than the parameters ask for: it has {}, and --hidden or --layers, --visible say "
          "otherwise",
          model.machines.back().machine.layers().back().unit->spec());
  finished_ = std::move(model);
}

void Learner::learn(const LearnOptions& options) {
  set_device_precision(parse_precision(config_.precision));
  const ThreadScope threads(options.threads, products_per_update(config_));
  const TensorPoolScope pool;
  try {
    if (trains_stack(config_))
      learn_stack(options);
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
  Model model = initial_ ? std::move(*initial_) : initial_model(config_, data_);
  initial_.reset();
  NamedTensors chains;
  if (config_.pretrain != "none") {
    run_ = std::make_unique<MachineRun>(config_, data_, model);  // what an interruption leaves
    const BoltzmannMachine composed = compose_chain(pretrain(options));
    for (const auto& [name, value] : composed.parameters().entries()) model.machine.parameters()[name].copy_(value);
    chains = chains_of_pretrained(model.machine, config_, data_);
  }
  const std::int64_t before =
      config_.pretrain == "none"
          ? 0
          : static_cast<std::int64_t>(pretraining_rbms(chain_specs(config_)).size()) * config_.pretrain_updates;
  run_ = std::make_unique<MachineRun>(config_, data_, std::move(model), chains);
  loop(*run_, config_, options, before, before + config_.updates);
}

std::vector<BoltzmannMachine> Learner::pretrain(const LearnOptions& options) {
  const std::size_t stages = pretraining_rbms(chain_specs(config_)).size();
  const std::int64_t each = config_.pretrain_updates,
                     total = static_cast<std::int64_t>(stages) * each + config_.updates;
  std::vector<BoltzmannMachine> machines;
  RunData seen = data_;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const RunConfig config = chain_stage_config(config_, stage);
    MachineRun run(config, seen, initial_model(config, seen));
    loop(run, config, options, static_cast<std::int64_t>(stage) * each, total);
    machines.push_back(with_own_parameters(run.current()).machine);
    if (stage + 1 < stages) seen = encode_data(machines.back(), seen);
  }
  return machines;
}

void Learner::learn_stack(const LearnOptions& options) {
  const std::size_t stages = count_stages(config_);
  const std::int64_t total = static_cast<std::int64_t>(stages) * config_.updates;
  RunData seen = data_;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const RunConfig config = stage_config(config_, stage);
    run_ = std::make_unique<MachineRun>(config, seen, initial_model(config, seen));
    loop(*run_, config, options, static_cast<std::int64_t>(stage) * config_.updates, total);
    if (stage + 1 == stages) break;
    finished_.machines.push_back(with_own_parameters(run_->kept().first));
    seen = encode_data(finished_.machines.back().machine, seen);
    run_.reset();
  }
}

void Learner::loop(MachineRun& run, const RunConfig& config, const LearnOptions& options, std::int64_t before,
                   std::int64_t total) {
  using Clock = std::chrono::steady_clock;
  const bool measures = options.monitor || config.keep == "best";
  std::map<std::string, double> metrics;
  const double earlier = seconds_;
  Clock::time_point start = Clock::now();
  const auto clock = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto measure = [&] {
    run.wait();
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
  while (!run.finished()) {
    run.step();
    if (measures && (run.update() % config.log_every == 0 || run.finished())) measure();
    watch.tick([&] {
      seconds_ = earlier + clock();
      show();
    });
  }
  run.wait();
  seconds_ = earlier + clock();
  if (options.show) {
    const py::gil_scoped_acquire gil;
    show();
  }
}

void Learner::learn_batch(RunData data, const LearnOptions& options) {
  data.binarization = parse_binarization(config_.binarize);
  const RunConfig config = endless(config_);
  const ThreadScope threads(options.threads, products_per_update(config));
  if (run_ == nullptr) {
    set_device_precision(parse_precision(config_.precision));
    Model model = !finished_.machines.empty() ? finished_.machines.back()
                  : initial_                  ? std::move(*initial_)
                                              : initial_model(config, data);
    initial_.reset();
    // Chains for a model that others have trained begin at data.
    NamedTensors chains;
    if (!finished_.machines.empty() && state_.empty()) chains = chains_of_pretrained(model.machine, config, data);
    run_ = std::make_unique<MachineRun>(config, data, std::move(model), chains);
    if (!state_.empty()) run_->restore(update_, state_);
    finished_.machines.clear();
    state_.clear();
  }
  check_values(data.train, run_->current().machine.unit(0));
  run_->learn_from(config, data);
  run_->step();
  update_ = run_->update();
  data_ = {};
}

void Learner::put_away() {
  data_ = {};
  if (run_ == nullptr) return;
  run_->check();
  update_ = run_->update();
  state_.clear();
  for (const auto& [name, value] : run_->state()) state_.emplace_back(name, value.cpu().clone());
  finished_.machines.push_back(with_own_parameters(run_->kept().first));
  finished_.notes = finished_.machines.front().notes;
  run_.reset();
}

StackModel Learner::model() const {
  StackModel model = finished_;
  if (run_ != nullptr) model.machines.push_back(with_own_parameters(run_->current()));
  return model;
}

NamedTensors Learner::state() const { return run_ == nullptr ? state_ : run_->state(); }

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
