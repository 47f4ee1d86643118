// What the tests of the real binary share: a folder of their own to run it in, and short ways to call it and to look at
// what it left behind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/process.h"

namespace harmonium::testing {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using nlohmann::ordered_json;

inline std::string read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

inline void write_bytes(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void flip_byte_in_the_middle(const fs::path& path) {
  std::string bytes = read_bytes(path);
  char& byte = bytes.at(bytes.size() / 2);
  byte = static_cast<char>(byte ^ 1);
  write_bytes(path, bytes);
}

// Every file below a folder with its content; folders have none.
inline std::map<fs::path, std::string> snapshot(const fs::path& folder) {
  std::map<fs::path, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() != "run.lock")  // a killed run leaves it, and the next command clears it away
      files[entry.path()] = entry.is_regular_file() ? read_bytes(entry.path()) : "";
  return files;
}

inline std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

inline Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

// metrics.jsonl without the one thing that may differ between equal runs.
inline std::vector<ordered_json> metrics_without_seconds(const fs::path& run) {
  std::vector<ordered_json> rows;
  std::istringstream lines(read_bytes(run / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line); rows.back().erase("seconds"))
    rows.push_back(ordered_json::parse(line));
  return rows;
}

// 12 of "training 12/60  2341/s …"; nothing of other lines.
inline std::optional<int> update_of(const std::string& line) {
  const std::string start = "training ";
  int update = 0;
  if (!line.starts_with(start)) return std::nullopt;
  const auto [end, error] = std::from_chars(line.data() + start.size(), line.data() + line.size(), update);
  return error == std::errc() && *end == '/' ? std::optional(update) : std::nullopt;
}

class Tool : public ::testing::Test {
 protected:
  Tool() {
    std::string name = (fs::temp_directory_path() / "harmonium_cli_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder = name;
  }
  ~Tool() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  [[nodiscard]] Process process(const Arguments& arguments) const {
    const std::string elsewhere = (folder / "nowhere").string();  // no data set or cache of the machine's user
    Process result;
    result.command = Arguments{HARMONIUM_BINARY} + arguments;
    result.folder = folder;
    // One thread each, because tests run side by side; no CUDA device, so that all machines answer alike.
    result.environment = {{"HOME", elsewhere},
                          {"XDG_CACHE_HOME", elsewhere},
                          {"HARMONIUM_DATA", elsewhere},
                          {"OMP_NUM_THREADS", "1"},
                          {"CUDA_VISIBLE_DEVICES", ""}};
    return result;
  }
  [[nodiscard]] Outcome harmonium(const Arguments& arguments) const { return run(process(arguments)); }

  // A command that must succeed.
  Outcome succeed(const Arguments& arguments) const {
    Outcome outcome = harmonium(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  }
  // … and print one JSON object and nothing else.
  [[nodiscard]] ordered_json json(const Arguments& arguments) const {
    return ordered_json::parse(succeed(arguments + Arguments{"--json"}).out);
  }

  // What a run folder says about how good its models are; nothing where there is no such file.
  [[nodiscard]] std::vector<ordered_json> evaluations(const fs::path& run) const {
    std::vector<ordered_json> rows;
    if (!fs::exists(folder / run / "evaluations.jsonl")) return rows;
    std::istringstream lines(read_bytes(folder / run / "evaluations.jsonl"));
    for (std::string line; std::getline(lines, line);) rows.push_back(ordered_json::parse(line));
    return rows;
  }

  // A small run on the digits that takes a fraction of a second; `more` adds flags or gives others' values anew.
  [[nodiscard]] static Arguments small_run(const std::string& out, const Arguments& more = {}) {
    std::vector<std::pair<std::string, std::string>> defaults = {{"--data", "digits"}, {"--limit", "200"},
                                                                 {"--updates", "60"},  {"--batch", "20"},
                                                                 {"--log-every", "5"}, {"--checkpoint-every", "7"}};
    // Models with several hidden layers, or none, have another option for them.
    const auto model = std::ranges::find(more, "--model");
    const std::string name = model == more.end() ? "rbm" : *(model + 1);
    if (name == "rbm" || name == "classification_rbm" || name == "semi_restricted" || name == "boltzmann" ||
        name == "nade")
      defaults.emplace_back("--hidden", "8");
    // The last model is what most tests are about; which one is best depends on a noisy estimate in so short a run.
    if (name == "rbm" || name == "mrf" || name == "semi_restricted" || name == "boltzmann" || name == "dbm")
      if (std::ranges::find(more, "--patience") == more.end()) defaults.emplace_back("--keep", "last");
    return Arguments{"train", "--out", out} + with_defaults(more, defaults);
  }

  // A flag may be given once only, so defaults step aside.
  [[nodiscard]] static Arguments with_defaults(Arguments flags,
                                               const std::vector<std::pair<std::string, std::string>>& defaults) {
    const Arguments given = flags;
    for (const auto& [flag, value] : defaults)
      if (std::ranges::find(given, flag) == given.end()) flags = flags + Arguments{flag, value};
    return flags;
  }

  // The user's mistake: exit 2, a message that holds all `parts`, nothing on standard output, nothing changed on disk.
  void refuses(const Arguments& arguments, const std::vector<std::string>& parts) const {
    SCOPED_TRACE(described(arguments));
    const auto before = snapshot(folder);
    const Outcome outcome = harmonium(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.find("internal error") == std::string::npos) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << "no '" << part << "' in: " << outcome.err;
    EXPECT_TRUE(before == snapshot(folder)) << "something on disk has changed";
  }

  [[nodiscard]] std::string model_bytes(const std::string& run) const {
    return read_bytes(folder / run / "model.safetensors");
  }

  fs::path folder;

 private:
  [[nodiscard]] static std::string described(const Arguments& arguments) {
    std::string line = "harmonium";
    for (const std::string& argument : arguments) line += " " + argument;
    return line;
  }
};

}  // namespace harmonium::testing
