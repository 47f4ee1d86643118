#include "harmonium/training/files/stages.h"

#include "harmonium/core/error.h"
#include "harmonium/training/files/metrics_log.h"

namespace harmonium {

std::filesystem::path stage_folder(const std::filesystem::path& folder, std::size_t stage) {
  return folder / format("layer-{}", stage + 1);
}

double seconds_of_run(const std::filesystem::path& folder) {
  double seconds = 0;
  const std::vector<MetricsRow> rows = MetricsLog(folder / "metrics.jsonl").read();
  if (!rows.empty()) seconds = rows.back().seconds;
  for (const std::filesystem::path& part : {folder, folder / "pretraining"})
    for (std::size_t stage = 0; std::filesystem::exists(stage_folder(part, stage)); ++stage)
      seconds += seconds_of_run(stage_folder(part, stage));
  return seconds;
}

RunResult run_stages(const std::filesystem::path& folder, const Stages& stages, const ConfigText& config_text,
                     const RunData& data, const RunHooks& hooks) {
  RunResult total;
  RunData seen = data;
  for (std::size_t stage = 0; stage < stages.count; ++stage) {
    const std::filesystem::path place = stage_folder(folder, stage);
    const std::int64_t before = static_cast<std::int64_t>(stage) * stages.updates;
    if (!std::filesystem::exists(place / "model.safetensors")) {
      RunHooks stage_hooks = hooks;
      stage_hooks.progress = [&](const RunProgress& p) {
        hooks.progress({.update = before + p.update,
                        .total = static_cast<std::int64_t>(stages.count) * stages.updates,
                        .seconds = total.seconds + p.seconds,
                        .updates_per_second = p.updates_per_second,
                        .metrics = p.metrics});
      };
      const RunResult result = run_training(place, stages.config(stage), config_text, seen, stage_hooks);
      if (!result.finished) {
        total.updates = before + result.updates;
        total.seconds += result.seconds;
        return total;
      }
      hooks.message(format("layer {} of {} is trained", stage + 1, stages.count));
    }
    const std::vector<MetricsRow> rows = MetricsLog(place / "metrics.jsonl").read();
    if (!rows.empty()) {
      total.seconds += rows.back().seconds;
      total.metrics = rows.back().values;
    }
    if (stage + 1 < stages.count) seen = stages.encode(place, seen);
  }
  total.updates = static_cast<std::int64_t>(stages.count) * stages.updates;
  total.kept = total.updates;
  total.finished = true;
  return total;
}

}  // namespace harmonium
