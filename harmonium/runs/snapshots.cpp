#include "harmonium/runs/snapshots.h"

#include <algorithm>
#include <charconv>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/format.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view snapshot_prefix = "update-", snapshot_suffix = ".safetensors";

// The whole text as a number; -1 where it is none.
std::int64_t whole_number(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

}  // namespace

fs::path write_snapshot(const RunFolder& folder, const Model& model, double seconds) {
  create_folder(folder.snapshots());
  const std::unique_ptr<Model> snapshot = model.clone();
  snapshot->info().notes["seconds"] = format("{}", seconds);
  fs::path path = folder.snapshots() / format("{}{:08}{}", snapshot_prefix, model.info().updates(), snapshot_suffix);
  write_file_atomically(path, snapshot->encode_file());
  return path;
}

std::vector<SnapshotFile> list_snapshots(const RunFolder& folder) {
  std::vector<SnapshotFile> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.snapshots(), none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(snapshot_prefix) || !name.ends_with(snapshot_suffix)) continue;
    const std::int64_t update = whole_number(std::string_view(name).substr(
        snapshot_prefix.size(), name.size() - snapshot_prefix.size() - snapshot_suffix.size()));
    if (update >= 1) found.push_back({update, entry.path()});
  }
  std::ranges::sort(found, {}, &SnapshotFile::update);
  return found;
}

}  // namespace harmonium
