#include <fmt/core.h>

#include <filesystem>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/memory_failure.h"
#include "harmonium/families/memory_estimate.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/run_lock.h"
#include "harmonium/sessions/tracking.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// runs/digits-1, runs/digits-2, …: the first that is free.
fs::path free_folder(const std::string& data) {
  std::string stem = fs::path(data.substr(0, data.find(':'))).stem().string();
  if (stem.empty()) stem = "run";
  for (int number = 1;; ++number) {
    fs::path folder = fs::path("runs") / format("{}-{}", stem, number);
    if (!fs::exists(folder)) return folder;
  }
}

void check_out(const RunFolder& folder, bool overwrite) {
  if (folder.is_blank()) return;
  require(fs::is_directory(folder.path()), "--out {}: it is a file; give a folder", folder.string());
  require(folder.is_run(), "--out {}: the folder holds other things; give a new one", folder.string());
  require(overwrite,
          "--out {}: there is a run already. Go on with it (`harmonium resume {}`), replace it (--overwrite) or give "
          "another folder",
          folder.string(), folder.string());
}

}  // namespace

int begin_run(RunConfig config, const std::string& out, bool overwrite, const SessionOptions& common) {
  (void)find_device(config.device);  // before data are read
  const RunData data = resolve(config);
  PreparedRun prepared = check_config(config, data);  // before anything is written or removed
  if (config.track != "none") (void)open_tracking_data(config, data);
  const fs::path folder = out.empty() ? free_folder(config.data) : fs::path(out);
  if (RunFolder(folder).is_run()) require_unlocked(folder);  // says who trains there
  check_out(folder, overwrite);
  const RunLock lock{RunFolder(folder)};
  check_out(folder, overwrite);  // another process may have been quicker
  RunFolder(folder).remove_run();
  constexpr double worth_telling = 1e8;  // bytes
  const double memory = estimate_memory(config, data).total();
  if (!common.json)
    fmt::print(stderr, "{} rows of {}, {} columns, binarization {}; {}; {}{}{}\n", data.train.rows(), config.data,
               data.train.columns(), config.binarize, find_family(config.model).in_words(config), config.optimizer,
               config.device == "cpu" ? "" : "; on " + config.device,
               memory < worth_telling ? "" : fmt::format("; about {} of memory", bytes_text(memory)));
  if (!common.json)
    for (const std::string& remark : data.train.remarks) fmt::print(stderr, "  {}\n", as_flags(remark));
  return run_and_report(folder, config, data, common, std::move(prepared));
}

}  // namespace harmonium
