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

#include "harmonium/families/model.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

// The model's notes say of which update it is. Returns the path of the file.
std::filesystem::path write_snapshot(const RunFolder& folder, const Model& model, double seconds);

struct SnapshotFile {
  std::int64_t update = 0;
  std::filesystem::path path;
};

// What is there, in order of updates.
[[nodiscard]] std::vector<SnapshotFile> list_snapshots(const RunFolder& folder);

}  // namespace harmonium
