#include "harmonium/runs/checkpoint.h"

#include <nlohmann/json.hpp>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/formats/safetensors.h"

namespace harmonium {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json read_index(const fs::path& folder) {
  const fs::path path = folder / "latest.json";
  if (!fs::exists(path)) return json::array();
  try {
    const json index = json::parse(read_file(path));
    require(index.is_array() && !index.empty(), "{} lists no checkpoint", path.string());
    return index;
  } catch (const json::exception& error) {
    fail("{} is damaged ({}); the files beside it can be named in it by hand", path.string(), error.what());
  }
}

Checkpoint load(const fs::path& folder, const json& entry) {
  const fs::path path = folder / entry.at("file").get<std::string>();
  const std::string bytes = read_file(path);
  require(sha256(bytes) == entry.at("sha256").get<std::string>(),
          "{}: the checksum does not match, the file is damaged", path.string());
  Checkpoint checkpoint{.update = entry.at("update"), .seconds = entry.at("seconds")};
  checkpoint.tensors = parse_safetensors(bytes, path.string()).tensors;
  return checkpoint;
}

}  // namespace

void write_checkpoint(const fs::path& folder, const Checkpoint& checkpoint) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const std::string bytes =
      encode_safetensors({.tensors = checkpoint.tensors, .metadata = {{"format", "harmonium-checkpoint/1"}}});
  const std::string name = format("update-{:08}.safetensors", checkpoint.update);
  // Before anything is written: the index may name a file of this very name, whose content is then the same.
  json index = json::array(
      {{{"file", name}, {"update", checkpoint.update}, {"seconds", checkpoint.seconds}, {"sha256", sha256(bytes)}}});
  try {
    for (const json& older : read_index(folder))
      if (index.size() < 2 && older.at("file") != name) index.push_back(older);
  } catch (const std::exception&) {
    // A damaged index is no reason not to write a good one.
  }
  write_file_atomically(folder / name, bytes);
  write_file_atomically(folder / "latest.json", index.dump(1) + "\n");
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::string other = file.path().filename().string();
    const bool listed = std::ranges::any_of(index, [&](const json& entry) { return entry.at("file") == other; });
    if (!listed && other != "latest.json") fs::remove(file.path(), ignored);
  }
}

std::optional<LoadedCheckpoint> read_checkpoint(const fs::path& folder) {
  std::string problems;
  const json index = read_index(folder);
  for (const json& entry : index) {
    try {
      return LoadedCheckpoint{load(folder, entry), problems};
    } catch (const json::exception& error) {
      problems += format("{}/latest.json: {}; ", folder.string(), error.what());
    } catch (const Error& error) {
      problems += std::string(error.marked()) + "; ";
    }
  }
  require(index.empty(), "no checkpoint can be read: {}", problems);
  return std::nullopt;
}

}  // namespace harmonium
