#include "harmonium/runs/run_identity.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/digest.h"

namespace harmonium {

namespace {

// Lines that do not shape the model: data are told by their digest wherever they lie, a run may move to another device,
// and the rest says how often something is looked at or saved.
constexpr std::array shapeless = {"data",      "valid", "device",       "checkpoint_every", "checkpoint_minutes",
                                  "snapshots", "track", "track_chains", "track_betas"};

// Lines "name = value" by name.
std::map<std::string, std::string> config_lines(const std::string& text) {
  std::map<std::string, std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (const std::size_t sign = line.find(" = "); sign != std::string::npos)
      lines[line.substr(0, sign)] = line.substr(sign + 3);
  return lines;
}

}  // namespace

std::map<std::string, std::string> RunIdentity::notes() const {
  return {{"data", data}, {"config", config}, {"threads", format("{}", threads)}};
}

RunIdentity RunIdentity::from_notes(const std::map<std::string, std::string>& notes) {
  const auto note = [&](const char* name) {
    const auto found = notes.find(name);
    return found == notes.end() ? std::string() : found->second;
  };
  return {.data = note("data"), .config = note("config"), .threads = std::atoi(note("threads").c_str())};
}

std::string data_digest(const RunData& data) {
  return sha256(format("{} {}", dataset_digest(data.train), dataset_digest(data.valid)));
}

RunIdentity identify_run(const std::string& config_text, std::string data, const RunConfig& config) {
  RunIdentity identity{
      .data = std::move(data), .config = {}, .threads = config.device == "cpu" ? at::get_num_threads() : 0};
  for (const auto& [name, value] : config_lines(config_text))
    if (std::ranges::find(shapeless, std::string_view(name)) == shapeless.end())
      identity.config += format("{} = {}\n", name, value);
  return identity;
}

std::string require_same_run(const RunIdentity& before, const RunIdentity& now, const AcceptedChanges& accepted,
                             const std::string& where) {
  require(before.data.empty() || before.data == now.data || accepted.data,
          "{}: the data are not those that this run was trained on so far (their rows or labels have changed). Bring "
          "the old data back; or go on with the new ones, knowing that the model has learnt from both: "
          "@accept_changed_data",
          where);
  const std::map<std::string, std::string> old_lines = config_lines(before.config), lines = config_lines(now.config);
  for (const auto& [name, value] : old_lines) {
    const auto found = lines.find(name);
    if (found == lines.end() || found->second == value) continue;
    require(accepted.updates || accepted.config || name != "updates",
            "{}: config.toml asks for {} updates, the checkpoint is of a run of {}. `harmonium resume {} --updates N` "
            "goes on with either",
            where, found->second, value, where);
    require(accepted.config || name == "updates",
            "{}: config.toml says `{} = {}`, the run was trained with `{} = {}` so far. Write the old value back, or "
            "go on with the new one: @accept_changed_config",
            where, name, found->second, name, value);
  }
  if (before.threads == 0 || now.threads == 0 || before.threads == now.threads) return {};
  return format(
      "this run was trained with {} threads so far and goes on with {}: sums may be rounded in another order, so that "
      "its bytes may differ from those of an uninterrupted run (@threads {} avoids that)",
      before.threads, now.threads, before.threads);
}

}  // namespace harmonium
