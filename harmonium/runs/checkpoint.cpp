#include "harmonium/runs/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/data/formats/safetensors.h"

namespace harmonium {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view checkpoint_prefix = "update-", checkpoint_suffix = ".safetensors";
constexpr const char* index_name = "latest.json";
const std::string no_sum(64, '0');
const std::string sum_key = "\"sha256\":\"";  // as it stands in the header, where quotes within texts are escaped

// What is known of a checkpoint before it is read.
struct Entry {
  std::string file;
  std::int64_t update = 0;
  std::optional<double> seconds = std::nullopt;   // nothing where the index does not name it
  std::optional<std::string> sum = std::nullopt;  // of the whole file, in indices of version 0.1
};

struct Index {
  std::vector<Entry> entries;
  std::string problem;  // empty where the index is whole, or the folder has no checkpoint
};

std::int64_t update_in_name(const std::string& name) {
  std::int64_t update = -1;
  if (!name.starts_with(checkpoint_prefix) || !name.ends_with(checkpoint_suffix)) return -1;
  const char* const begin = name.data() + checkpoint_prefix.size();
  const char* const end = name.data() + name.size() - checkpoint_suffix.size();
  const auto [stop, error] = std::from_chars(begin, end, update);
  return error == std::errc() && stop == end ? update : -1;
}

Index read_index(const fs::path& folder) {
  Index index;
  const fs::path path = folder / index_name;
  if (!fs::exists(path)) {
    index.problem = format("{} is missing", path.string());
    return index;
  }
  try {
    for (const json& each : json::parse(read_file(path))) {
      Entry entry{.file = each.at("file"), .update = whole_number(each.at("update")), .seconds = each.at("seconds")};
      if (each.contains("sha256")) entry.sum = each.at("sha256");
      index.entries.push_back(entry);
    }
    if (index.entries.empty()) index.problem = format("{} is damaged: it lists no checkpoint", path.string());
  } catch (const json::exception& error) {
    index.problem = format("{} is damaged ({})", path.string(), error.what());
  } catch (const Error& error) {  // it cannot be read
    index.problem = error.marked();
  }
  return index;
}

// What the index names and what lies beside it, the newest first.
Index list_checkpoints(const fs::path& folder) {
  Index index = read_index(folder);
  std::error_code none;
  bool any = !index.entries.empty();
  for (const auto& file : fs::directory_iterator(folder, none)) {
    const std::string name = file.path().filename().string();
    const std::int64_t update = update_in_name(name);
    if (update < 0) continue;
    any = true;
    if (std::ranges::find(index.entries, name, &Entry::file) == index.entries.end())
      index.entries.push_back({.file = name, .update = update});
  }
  if (!any && !fs::exists(folder / index_name)) index.problem.clear();
  std::ranges::stable_sort(index.entries, std::ranges::greater(), &Entry::update);
  return index;
}

std::size_t header_end(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8 && i < bytes.size(); ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return length < bytes.size() ? static_cast<std::size_t>(8 + length) : bytes.size();
}

// Where a file's own sum begins; npos where it has none.
std::size_t own_sum(std::string_view bytes) {
  const std::size_t key = bytes.substr(0, header_end(bytes)).find(sum_key);
  if (key == std::string_view::npos || key + sum_key.size() + no_sum.size() > bytes.size())
    return std::string_view::npos;
  return key + sum_key.size();
}

std::string encode_checkpoint(const Checkpoint& checkpoint) {
  std::map<std::string, std::string> metadata = checkpoint.notes;
  metadata["format"] = "harmonium-checkpoint/1";
  metadata["update"] = format("{}", checkpoint.update);
  metadata["sha256"] = no_sum;
  std::string bytes = encode_safetensors({.tensors = checkpoint.tensors, .metadata = metadata});
  const std::size_t place = own_sum(bytes);
  if (place == std::string::npos) throw std::logic_error("encode_checkpoint: the header holds no place for the sum");
  return bytes.replace(place, no_sum.size(), sha256(bytes));
}

// The sum is that of the file with zeros in its place.
bool sum_holds(std::string bytes, std::size_t place) {
  const std::string sum = bytes.substr(place, no_sum.size());
  return sha256(bytes.replace(place, no_sum.size(), no_sum)) == sum;
}

Checkpoint load_checkpoint(const fs::path& folder, const Entry& entry) {
  const fs::path path = folder / entry.file;
  const std::string bytes = read_file(path);
  const std::size_t place = own_sum(bytes);
  const bool known = place != std::string::npos || entry.sum;
  require(known, "{}: the file has no checksum of its own (an older version wrote it), and {} does not tell it",
          path.string(), index_name);
  require(place != std::string::npos ? sum_holds(bytes, place) : sha256(bytes) == *entry.sum,
          "{}: the checksum does not match, the file is damaged", path.string());
  TensorFile file = parse_safetensors(bytes, path.string());
  return {.update = entry.update,
          .seconds = entry.seconds.value_or(0),
          .tensors = std::move(file.tensors),
          .notes = std::move(file.metadata)};
}

}  // namespace

void write_checkpoint(const fs::path& folder, const Checkpoint& checkpoint) {
  create_folder(folder);
  const std::string bytes = encode_checkpoint(checkpoint);
  const std::string name = format("{}{:08}{}", checkpoint_prefix, checkpoint.update, checkpoint_suffix);
  json index = json::array({{{"file", name}, {"update", checkpoint.update}, {"seconds", checkpoint.seconds}}});
  for (const Entry& older : list_checkpoints(folder).entries) {
    if (older.update >= checkpoint.update || index.size() == 2) continue;
    index.push_back({{"file", older.file}, {"update", older.update}, {"seconds", older.seconds.value_or(0)}});
    if (older.sum) index.back()["sha256"] = *older.sum;
  }
  write_file_atomically(folder / name, bytes);
  write_file_atomically(folder / index_name, index.dump(1) + "\n");
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::string other = file.path().filename().string();
    const bool listed = std::ranges::any_of(index, [&](const json& entry) { return entry.at("file") == other; });
    if (!listed && update_in_name(other) >= 0) fs::remove(file.path(), ignored);
  }
}

std::optional<LoadedCheckpoint> read_checkpoint(const fs::path& folder) {
  std::string problems;
  // A run that goes on may have replaced what was listed.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Index index = list_checkpoints(folder);
    problems = index.problem;
    const auto note = [&](const std::string& problem) { problems += (problems.empty() ? "" : "; ") + problem; };
    for (const Entry& entry : index.entries) {
      try {
        LoadedCheckpoint loaded{
            .checkpoint = load_checkpoint(folder, entry), .seconds_known = entry.seconds.has_value(), .warning = ""};
        if (!problems.empty())
          loaded.warning = format("going on from the checkpoint of update {}, because {}", entry.update, problems);
        return loaded;
      } catch (const Error& error) {
        note(error.marked());
      }
    }
    if (index.entries.empty() && index.problem.empty()) return std::nullopt;
  }
  fail("no checkpoint can be read: {}", problems);
}

}  // namespace harmonium
