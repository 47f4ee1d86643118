#include "harmonium/runs/run_folder.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace fs = std::filesystem;

std::vector<RunFolder> RunFolder::stages() const {
  std::vector<RunFolder> found;
  for (const fs::path& part : {path_, pretraining()})
    for (std::size_t stage = 1; fs::exists(part / format("layer-{}", stage)); ++stage)
      found.emplace_back(part / format("layer-{}", stage));
  return found;
}

bool RunFolder::is_run() const {
  std::error_code none;
  return fs::is_directory(path_, none) && fs::exists(config(), none);
}

bool RunFolder::finished() const {
  std::error_code none;
  return fs::exists(model(), none);
}

bool RunFolder::is_blank() const {
  std::error_code none;
  if (!fs::exists(path_, none)) return true;
  if (!fs::is_directory(path_, none)) return false;
  const std::string half = config().filename().string() + ".";  // config.toml.1234.tmp
  return std::ranges::all_of(fs::directory_iterator(path_), [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return entry.path().filename() == lock().filename() || (name.starts_with(half) && name.ends_with(".tmp"));
  });
}

void RunFolder::create() const { create_folder(path_); }

void RunFolder::remove_unfinished_files() const {
  for (const fs::path& each : {path_, checkpoints(), snapshots(), pretraining()})
    harmonium::remove_unfinished_files(each);
  std::error_code none;
  for (const auto& journal : fs::directory_iterator(journals(), none)) harmonium::remove_unfinished_files(journal);
  for (const RunFolder& stage : stages()) stage.remove_unfinished_files();
}

void RunFolder::remove_run() const {
  std::vector<fs::path> all = {checkpoints(), snapshots(),       journals(),    metrics(),  model(),
                               report(),      classifications(), retrievals(),  mistakes(), start(),
                               pretraining(), evaluations(),     trained_rows()};
  for (const RunFolder& stage : stages()) all.push_back(stage.path());
  // Last: until then a folder half removed is still known for a run.
  all.push_back(config());
  for (const fs::path& each : all) {
    std::error_code failure;
    fs::remove_all(each, failure);
    if (failure) throw RunFailure(format("cannot remove {}: {}", each.string(), failure.message()));
  }
  remove_unfinished_files();
}

}  // namespace harmonium
