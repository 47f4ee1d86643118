// Checkpoints of a run: atomic, checksummed, the last two kept.
//
// `checkpoint/update-00001000.safetensors` holds a training's state; `checkpoint/latest.json` names it and the one
// before with their SHA-256 sums, and is replaced only after the file it names is on disk. Whatever moment a process is
// killed at, latest.json names a whole file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harmonium/core/named_tensors.h"

namespace harmonium {

struct Checkpoint {
  std::int64_t update = 0;
  double seconds = 0;  // of training so far
  NamedTensors tensors = {};
};

void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

struct LoadedCheckpoint {
  Checkpoint checkpoint;
  std::string warning;  // not empty when the newest was damaged and the one before was taken
};

// Nothing when the folder has no checkpoint; throws Error when those there are damaged.
[[nodiscard]] std::optional<LoadedCheckpoint> read_checkpoint(const std::filesystem::path& folder);

}  // namespace harmonium
