#include <fmt/core.h>

#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/damaged_records.h"
#include "harmonium/runs/run_lock.h"
#include "harmonium/sessions/training_session.h"
#include "harmonium/training/schedule.h"

namespace harmonium {

namespace {

// Snapshots that a shorter run still comes to.
std::string snapshots_until(const std::string& list, std::int64_t updates) {
  if (list == "none" || list == "log") return list;
  std::string kept;
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');)
    if (std::atoll(item.c_str()) <= updates) kept += (kept.empty() ? "" : ",") + item;
  return kept.empty() ? "none" : kept;
}

// What another length means for the updates that are left, in plain words.
void tell_new_length(const RunConfig& before, const RunConfig& now, std::int64_t done) {
  fmt::print(stderr, "the run has done {} updates and now ends at update {} instead of {}\n", done, now.updates,
             before.updates);
  if (now.updates == done) return;
  const Family& family = find_family(now.model);
  const auto factor = [&](const RunConfig& config) {
    if (done >= config.updates && config.schedule.find("linear") != std::string::npos) return 0.0;
    return schedule_factor(parse_schedule(config.schedule), done, config.updates, config.schedule_tau);
  };
  if (family.has("schedule") && factor(before) != factor(now))
    fmt::print(stderr,
               "--schedule {} depends on the length: the learning rate goes on at {:.3g} of its first value (it would "
               "have been {:.3g}) and comes to its end at update {}\n",
               now.schedule, factor(now), factor(before), now.updates);
  if (family.has("sweeps_final") && now.sweeps_final > 0)
    fmt::print(stderr, "--sweeps-final {} is now reached at update {}\n", now.sweeps_final, now.updates);
  if (family.has("schedule"))
    fmt::print(stderr, "the model will not be that of a run with --updates {} from its start\n", now.updates);
}

// The configuration with the length that was asked for.
RunConfig with_length(const RunFolder& folder, const RunConfig& config, const ResumeOptions& options) {
  const char* const flag = options.finish ? "--finish" : "--updates";
  require(!options.finish || !options.updates, "--finish ends the run where it is; leave --updates out");
  const auto loaded = read_checkpoint(folder.checkpoints());
  require(loaded || folder.stages().empty(),
          "{}: {} trains its layers one by one, each a run of its own, and there is no training of all together to "
          "which it could apply",
          flag, folder.string());
  require(loaded.has_value(), "{}: {} has not come to its first checkpoint; `harmonium resume {}` begins anew", flag,
          folder.string(), folder.string());
  const std::int64_t done = loaded->checkpoint.update;
  RunConfig now = config;
  now.updates = options.finish ? done : *options.updates;
  require(now.updates >= std::max<std::int64_t>(done, 1),
          "--updates {}: {} has done {} already; give that or more, or end it with --finish", now.updates,
          folder.string(), done);
  now.snapshots = snapshots_until(config.snapshots, now.updates);
  if (now.updates != config.updates) tell_new_length(config, now, done);
  return now;
}

}  // namespace

int resume_run(const ResumeOptions& options) {
  const RunFolder folder(options.folder);
  require(folder.is_run(), "{} is not a run folder: it has no config.toml", folder.string());
  const RunLock lock(folder);
  folder.remove_unfinished_files();
  for (const std::string& sentence : damaged_records(folder)) fmt::print(stderr, "{}\n", sentence);
  RunConfig config;
  read_toml(folder.config(), config);
  const RunConfig before = config;
  if (options.finish || options.updates) config = with_length(folder, config, options);
  const RunConfig written = config;
  if (options.device.empty())
    naming(folder.config().string(), [&] { (void)find_device(config.device); });  // before data are read
  else
    (void)find_device(config.device = options.device);
  const RunData data = naming(folder.config().string(), [&] { return resolve(config); });
  if (written.updates != before.updates) {
    // In this order: a run without its model is unfinished whatever its length, and goes on from its checkpoint.
    std::error_code failure;
    std::filesystem::remove(folder.model(), failure);
    if (failure) throw RunFailure(format("cannot remove {}: {}", folder.model().string(), failure.message()));
    write_file_atomically(folder.config(), to_toml(written));
  }
  return run_and_report(folder, config, data, options.common, {},
                        {.data = options.accept_changed_data,
                         .config = options.accept_changed_config,
                         .updates = options.finish || options.updates.has_value()});
}

}  // namespace harmonium
