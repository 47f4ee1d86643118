#include "harmonium/runs/run.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/run_loop.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

void begin_folder(const fs::path& folder, const std::string& config_text) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the run folder {}: {}", folder.string(), failure.message()));
  if (!fs::exists(folder / "config.toml")) write_file_atomically(folder / "config.toml", config_text);
}

// Trains what is not trained yet. The result counts updates and seconds of all stages; metrics are those of the last.
RunResult run_stages(const fs::path& folder, const Stages& stages, const ConfigText& config_text,
                     const RunHooks& hooks) {
  RunResult all;
  const auto count = static_cast<std::int64_t>(stages.count);
  all.total = count * stages.updates;
  RunData seen = stages.data;
  for (std::size_t stage = 0; stage < stages.count; ++stage) {
    const fs::path place = folder / stages.place(stage);
    const std::int64_t before = static_cast<std::int64_t>(stage) * stages.updates;
    if (!fs::exists(place / "model.safetensors")) {
      RunHooks stage_hooks = hooks;
      stage_hooks.snapshot = RunHooks().snapshot;
      stage_hooks.progress = [&](const RunProgress& p) {
        hooks.progress({.update = before + p.update,
                        .total = all.total,
                        .seconds = all.seconds + p.seconds,
                        .updates_per_second = p.updates_per_second,
                        .metrics = p.metrics});
      };
      const RunResult result = run_training(place, stages.config(stage), config_text, seen, stage_hooks);
      if (!result.finished) {
        all.updates = before + result.updates;
        all.seconds += result.seconds;
        return all;
      }
      if (stages.count > 1) hooks.message(format("layer {} of {} is trained", stage + 1, stages.count));
    }
    all.seconds += seconds_of_run(place);
    const std::vector<MetricsRow> rows = MetricsLog(place / "metrics.jsonl").read();
    if (!rows.empty()) all.metrics = rows.back().values;
    if (stage + 1 < stages.count) seen = stages.encode(*open_model(place), seen);
  }
  all.updates = all.total;
  // The last stage may have kept an earlier model than its last.
  all.kept = all.total - stages.updates + open_model(folder / stages.place(stages.count - 1))->info().updates();
  all.finished = true;
  return all;
}

StageModels stage_models(const fs::path& folder, const Stages& stages) {
  StageModels models;
  for (std::size_t stage = 0; stage < stages.count; ++stage) models.push_back(open_model(folder / stages.place(stage)));
  return models;
}

}  // namespace

std::vector<fs::path> stage_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::path& part : {folder, folder / "pretraining"})
    for (std::size_t stage = 1; fs::exists(part / format("layer-{}", stage)); ++stage)
      found.push_back(part / format("layer-{}", stage));
  return found;
}

double seconds_of_run(const fs::path& folder) {
  double seconds = 0;
  const std::vector<MetricsRow> rows = MetricsLog(folder / "metrics.jsonl").read();
  if (!rows.empty()) seconds = rows.back().seconds;
  for (const fs::path& stage : stage_folders(folder)) seconds += seconds_of_run(stage);
  return seconds;
}

RunResult run_training(const fs::path& folder, const RunConfig& config, const ConfigText& config_text,
                       const RunData& data, const RunHooks& hooks, PreparedRun prepared) {
  set_device_precision(parse_precision(config.precision));
  const Family& family = find_family(config.model);
  // The model before its first update, where the run cannot make it again without what it came from.
  const fs::path kept_start = folder / "start.safetensors";
  const bool keeps_start = family.keeps_start != nullptr && family.keeps_start(config);
  std::unique_ptr<Model> start;
  if (keeps_start && fs::exists(kept_start)) start = open_model(kept_start);
  std::optional<Stages> stages;
  if (start == nullptr && family.stages != nullptr && !read_checkpoint(folder / "checkpoint"))
    stages = family.stages(config, data);
  RunResult before{.finished = true};
  if (stages) {
    begin_folder(folder, config_text(config));
    before = run_stages(folder, *stages, config_text, hooks);
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
    write_file_atomically(folder / "model.safetensors", start->encode_file());
    return before;
  }
  if (keeps_start && !fs::exists(kept_start)) {
    begin_folder(folder, config_text(config));
    write_file_atomically(kept_start, start->encode_file());
  }
  return run_loop(folder, config, config_text(config), hooks, *trainee);
}

}  // namespace harmonium
