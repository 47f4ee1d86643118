#include "harmonium/runs/run_loop.h"

#include <algorithm>
#include <chrono>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/core/tensor_pool.h"
#include "harmonium/families/snapshot_updates.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/snapshots.h"

namespace harmonium {

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Updates per second over the last few seconds.
class Speedometer {
 public:
  void tick(std::int64_t update, double seconds) {
    if (seconds - seconds_ < 0.5 && rate_ > 0) return;
    if (seconds > seconds_ && update > update_) {
      const double now = static_cast<double>(update - update_) / (seconds - seconds_);
      rate_ = rate_ > 0 ? 0.7 * rate_ + 0.3 * now : now;
    }
    update_ = update;
    seconds_ = seconds;
  }
  [[nodiscard]] double rate() const { return rate_; }

 private:
  std::int64_t update_ = 0;
  double seconds_ = 0, rate_ = 0;
};

}  // namespace

RunResult run_loop(const fs::path& folder, const RunConfig& config, const std::string& config_text,
                   const RunHooks& hooks, Trainee& trainee) {
  Training& training = trainee.training();
  const MetricsLog log(folder / "metrics.jsonl");
  const fs::path checkpoints = folder / "checkpoint";
  std::map<std::string, double> metrics;
  double seconds = 0;

  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the run folder {}: {}", folder.string(), failure.message()));
  for (const fs::path& each : {folder, checkpoints, folder / "snapshots"}) remove_unfinished_files(each);
  if (const auto loaded = read_checkpoint(checkpoints)) {
    if (!loaded->warning.empty())
      hooks.message(format("the newest checkpoint is damaged, taking the one before: {}", loaded->warning));
    naming(checkpoints.string(), [&] { trainee.restore(loaded->checkpoint.update, loaded->checkpoint.tensors); });
    seconds = loaded->checkpoint.seconds;
    log.truncate_after(training.update());
    for (const MetricsRow& row : log.read()) metrics = row.values;
  } else {
    write_file_atomically(folder / "config.toml", config_text);
    log.truncate_after(-1);
  }

  trim_tensor_pool();  // what preparations took

  // The clock runs for updates only: measuring and saving are not training.
  Clock::time_point last_save = Clock::now();
  std::int64_t saved_update = training.update();
  const auto save = [&] {
    training.check();  // never over a good checkpoint with a bad one
    write_checkpoint(checkpoints, {.update = training.update(), .seconds = seconds, .tensors = trainee.state()});
    last_save = Clock::now();
    saved_update = training.update();
  };
  const auto measure = [&] {
    metrics = trainee.measure();
    log.append({.update = training.update(), .seconds = seconds, .values = metrics});
  };

  const std::vector<std::int64_t> snapshots = snapshot_updates(config.snapshots, config.updates);
  Speedometer speed;
  if (training.update() == 0) measure();
  while (!training.finished()) {
    const Clock::time_point start = Clock::now();
    training.step();
    // Work that a device has begun is training as well, and must not be done on the time of what comes below.
    const auto pauses = [&](std::int64_t at) {
      return at % config.log_every == 0 || at % config.checkpoint_every == 0 || training.finished() ||
             std::ranges::binary_search(snapshots, at);
    };
    if (pauses(training.update())) training.wait();
    seconds += seconds_since(start);
    for (const std::string& sentence : training.take_notes())
      hooks.message(format("update {}: {}", training.update(), sentence));
    const std::int64_t update = training.update();
    speed.tick(update, seconds);
    if (update % config.log_every == 0 || training.finished()) measure();
    // Before the checkpoint: a run resumed after update u must find the snapshot of u.
    if (std::ranges::binary_search(snapshots, update)) {
      training.check();
      hooks.snapshot(write_snapshot(folder, *trainee.current(), seconds));
    }
    const bool stop = hooks.stop_requested();
    if (stop || training.finished() || update % config.checkpoint_every == 0 ||
        seconds_since(last_save) > 60 * config.checkpoint_minutes)
      save();
    hooks.progress({.update = update,
                    .total = config.updates,
                    .seconds = seconds,
                    .updates_per_second = speed.rate(),
                    .metrics = metrics});
    if (stop && !training.finished()) break;
  }
  RunResult result{.updates = training.update(),
                   .total = config.updates,
                   .seconds = seconds,
                   .finished = training.finished(),
                   .metrics = metrics};
  if (!result.finished) return result;
  if (saved_update != training.update()) save();
  const Training::Kept kept = training.kept();
  for (const std::string& sentence : trainee.closing_words(kept)) hooks.message(sentence);
  write_file_atomically(folder / "model.safetensors", trainee.model(kept)->encode_file());
  result.kept = kept.update;
  return result;
}

}  // namespace harmonium
