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

RunResult run_loop(const RunFolder& folder, const RunConfig& config, const std::string& config_text,
                   const RunIdentity& identity, const RunHooks& hooks, Trainee& trainee) {
  Training& training = trainee.training();
  const MetricsLog log(folder.metrics());
  std::map<std::string, double> metrics;
  double seconds = 0;
  bool changed = false;  // since the checkpoint

  folder.create();
  if (const auto loaded = read_checkpoint(folder.checkpoints())) {
    if (!loaded->warning.empty()) hooks.message(loaded->warning);
    const RunIdentity before = RunIdentity::from_notes(loaded->checkpoint.notes);
    if (const std::string warning = require_same_run(before, identity, hooks.accepted, folder.string());
        !warning.empty())
      hooks.message(warning);
    changed = !before.config.empty() && (before.config != identity.config || before.data != identity.data);
    naming(folder.checkpoints().string(),
           [&] { trainee.restore(loaded->checkpoint.update, loaded->checkpoint.tensors); });
    seconds = loaded->checkpoint.seconds;
    log.truncate_after(training.update());
    for (const MetricsRow& row : log.read()) {
      metrics = row.values;
      if (!loaded->seconds_known) seconds = row.seconds;
    }
  } else {
    write_file_atomically(folder.config(), config_text);
    log.truncate_after(-1);
  }

  trim_tensor_pool();  // what preparations took

  // The clock runs for updates only: measuring and saving are not training.
  Clock::time_point last_save = Clock::now();
  std::int64_t saved_update = training.update();
  const auto save = [&] {
    training.check();  // never over a good checkpoint with a bad one
    log.sync();        // a checkpoint must not outlive the lines before it
    write_checkpoint(
        folder.checkpoints(),
        {.update = training.update(), .seconds = seconds, .tensors = trainee.state(), .notes = identity.notes()});
    last_save = Clock::now();
    saved_update = training.update();
  };
  const auto measure = [&] {
    metrics = trainee.measure();
    log.append({.update = training.update(), .seconds = seconds, .values = metrics});
  };

  if (changed) save();  // what was accepted once need not be accepted again
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
  write_file_atomically(folder.model(), trainee.model(kept)->encode_file());
  result.kept = kept.update;
  return result;
}

}  // namespace harmonium
