#include "harmonium/runs/run.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/run_identity.h"
#include "harmonium/runs/run_lock.h"
#include "harmonium/runs/run_loop.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// What all parts of a run share.
struct RunContext {
  const ConfigText& config_text;
  const std::string& data;  // the digest of the run's data, which stages have as well
  const RunHooks& hooks;
};

RunResult train_in(const RunFolder& folder, const RunConfig& config, const RunData& data, const RunContext& context,
                   PreparedRun prepared);

void begin_folder(const RunFolder& folder, const std::string& config_text) {
  folder.create();
  if (!fs::exists(folder.config())) write_file_atomically(folder.config(), config_text);
}

// What is trained already must have learnt from the same data, with the same configuration.
void check_finished_stage(const RunFolder& folder, const RunConfig& config, const RunContext& context) {
  const auto loaded = read_checkpoint(folder.checkpoints());
  if (!loaded) return;
  const RunIdentity now = identify_run(context.config_text(config), context.data, config);
  (void)require_same_run(RunIdentity::from_notes(loaded->checkpoint.notes), now, context.hooks.accepted,
                         folder.string());
}

// Trains what is not trained yet. The result counts updates and seconds of all stages; metrics are those of the last.
RunResult run_stages(const RunFolder& folder, const Stages& stages, const RunContext& context) {
  RunResult all;
  const RunHooks& hooks = context.hooks;
  const auto count = static_cast<std::int64_t>(stages.count);
  all.total = count * stages.updates;
  RunData seen = stages.data;
  for (std::size_t stage = 0; stage < stages.count; ++stage) {
    const RunFolder place = folder.path() / stages.place(stage);
    const std::int64_t before = static_cast<std::int64_t>(stage) * stages.updates;
    if (place.finished()) {
      check_finished_stage(place, stages.config(stage), context);
    } else {
      RunHooks stage_hooks = hooks;
      stage_hooks.snapshot = RunHooks().snapshot;
      stage_hooks.progress = [&](const RunProgress& p) {
        hooks.progress({.update = before + p.update,
                        .total = all.total,
                        .seconds = all.seconds + p.seconds,
                        .updates_per_second = p.updates_per_second,
                        .metrics = p.metrics});
      };
      const RunContext stage_context{.config_text = context.config_text, .data = context.data, .hooks = stage_hooks};
      const RunResult result = train_in(place, stages.config(stage), seen, stage_context, {});
      if (!result.finished) {
        all.updates = before + result.updates;
        all.seconds += result.seconds;
        return all;
      }
      if (stages.count > 1) hooks.message(format("layer {} of {} is trained", stage + 1, stages.count));
    }
    all.seconds += seconds_of_run(place);
    const std::vector<MetricsRow> rows = MetricsLog(place.metrics()).read();
    if (!rows.empty()) all.metrics = rows.back().values;
    if (stage + 1 < stages.count) seen = stages.encode(*open_model(place.path()), seen);
  }
  all.updates = all.total;
  // The last stage may have kept an earlier model than its last.
  all.kept = all.total - stages.updates + open_model(folder.path() / stages.place(stages.count - 1))->info().updates();
  all.finished = true;
  return all;
}

StageModels stage_models(const RunFolder& folder, const Stages& stages) {
  StageModels models;
  for (std::size_t stage = 0; stage < stages.count; ++stage)
    models.push_back(open_model(folder.path() / stages.place(stage)));
  return models;
}

RunResult train_in(const RunFolder& folder, const RunConfig& config, const RunData& data, const RunContext& context,
                   PreparedRun prepared) {
  const RunLock lock(folder);
  folder.remove_unfinished_files();
  const RunHooks& hooks = context.hooks;
  const Family& family = find_family(config.model);
  const std::string config_text = context.config_text(config);
  // The model before its first update, where the run cannot make it again without what it came from.
  const bool keeps_start = family.keeps_start != nullptr && family.keeps_start(config);
  std::unique_ptr<Model> start;
  if (keeps_start && fs::exists(folder.start())) start = open_model(folder.start());
  std::optional<Stages> stages;
  if (start == nullptr && family.stages != nullptr && !read_checkpoint(folder.checkpoints()))
    stages = family.stages(config, data);
  RunResult before{.finished = true};
  if (stages) {
    begin_folder(folder, config_text);
    before = run_stages(folder, *stages, context);
    const bool joint = family.train != nullptr && !stages->done.empty();
    before.pretraining = joint;
    if (!before.finished) return before;
    if (joint) hooks.message(stages->done);
  }
  const bool ready = start == nullptr && !stages && prepared.trainee != nullptr;
  if (ready) start = std::move(prepared.start);
  if (start == nullptr) start = family.make(config, data, stages ? stage_models(folder, *stages) : StageModels{});
  const std::unique_ptr<Trainee> trainee = ready ? std::move(prepared.trainee) : family.train(config, data, *start);
  if (trainee == nullptr) {  // stages were all
    write_file_atomically(folder.model(), start->encode_file());
    return before;
  }
  if (keeps_start && !fs::exists(folder.start())) {
    begin_folder(folder, config_text);
    write_file_atomically(folder.start(), start->encode_file());
  }
  return run_loop(folder, config, config_text, identify_run(config_text, context.data, config), hooks, *trainee);
}

}  // namespace

double seconds_of_run(const RunFolder& folder) {
  double seconds = 0;
  const std::vector<MetricsRow> rows = MetricsLog(folder.metrics()).read();
  if (!rows.empty()) seconds = rows.back().seconds;
  for (const RunFolder& stage : folder.stages()) seconds += seconds_of_run(stage);
  return seconds;
}

RunResult run_training(const RunFolder& folder, const RunConfig& config, const ConfigText& config_text,
                       const RunData& data, const RunHooks& hooks, PreparedRun prepared) {
  set_device_precision(parse_precision(config.precision));
  const std::string digest = data_digest(data);
  return train_in(folder, config, data, {.config_text = config_text, .data = digest, .hooks = hooks},
                  std::move(prepared));
}

}  // namespace harmonium
