// Checkpoints of a run: atomic, checksummed, the last two kept.
//
// `checkpoint/update-00001000.safetensors` holds a training's state, and in its metadata a SHA-256 sum of itself and
// what the run was (runs/run_identity.h). `checkpoint/latest.json` names it and the one before, and is replaced only
// after the file it names is on disk. Whatever moment a process is killed at, there is a whole file; where the index is
// lost or damaged, the newest file whose sum holds is taken. Two equal runs write equal files: what takes time stands
// in the index alone.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harmonium/core/named_tensors.h"

namespace harmonium {

struct Checkpoint {
  std::int64_t update = 0;
  double seconds = 0;  // of training so far
  NamedTensors tensors = {};
  std::map<std::string, std::string> notes = {};  // text for who goes on from it
};

void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

struct LoadedCheckpoint {
  Checkpoint checkpoint;
  bool seconds_known = true;  // false where the index, which tells them, is lost
  std::string warning;        // a sentence where the index or the newest checkpoint was damaged; else empty
};

// Nothing when the folder has no checkpoint; throws Error when those there are damaged. May be called while a run goes
// on writing.
[[nodiscard]] std::optional<LoadedCheckpoint> read_checkpoint(const std::filesystem::path& folder);

}  // namespace harmonium
