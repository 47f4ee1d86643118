// A run's configuration as flags and as TOML.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "harmonium/training/run_config.h"

namespace harmonium::cli {

// Declares a flag for every field. After parsing, only flags that were given override what a file says.
class ConfigFlags {
 public:
  void declare(CLI::App& command);
  // Defaults, then the file (where not empty), then the flags.
  [[nodiscard]] RunConfig resolve(const std::string& file) const;
  // The same over another start than the defaults.
  [[nodiscard]] RunConfig resolve(RunConfig config) const;

 private:
  RunConfig values_;
  std::vector<CLI::Option*> options_;
};

// Overwrites fields by the file's; unknown keys and wrong types fail naming file and line.
void read_toml(const std::filesystem::path& path, RunConfig& config);
[[nodiscard]] std::string to_toml(const RunConfig& config);

}  // namespace harmonium::cli
