// Snapshots of a run: the averaged model as it was after chosen updates, to see later how good it was when.
//
// `snapshots/update-00001000.safetensors` is a model file (see model_file.h) whose notes hold "updates" and "seconds",
// the training time so far. They are no part of a run's state: a resumed run writes those that were due since its
// checkpoint again, with the same parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harmonium/training/files/model_file.h"

namespace harmonium {

// The updates that `list` asks for, increasing: "none"; "100,300,1000"; "log" is 1, 3, 10, 30, … and the last update.
// Throws Error naming --snapshots where the list makes no sense or goes beyond the last update.
[[nodiscard]] std::vector<std::int64_t> snapshot_updates(const std::string& list, std::int64_t updates);

// `folder` is the run's. Returns the path of the file.
std::filesystem::path write_snapshot(const std::filesystem::path& folder, const Model& model, std::int64_t update,
                                     double seconds);

struct SnapshotFile {
  std::int64_t update = 0;
  std::filesystem::path path;
};

// What is there, in order of updates.
[[nodiscard]] std::vector<SnapshotFile> list_snapshots(const std::filesystem::path& folder);

}  // namespace harmonium
