// A run's configuration as TOML.
#pragma once

#include <filesystem>
#include <string>

#include "harmonium/families/run_config.h"

namespace harmonium {

// Overwrites fields by the file's; unknown keys and wrong types fail naming file and line.
void read_toml(const std::filesystem::path& path, RunConfig& config);
[[nodiscard]] std::string to_toml(const RunConfig& config);

}  // namespace harmonium
