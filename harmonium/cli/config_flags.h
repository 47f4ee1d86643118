// A run's configuration as flags: those of one family, with those of all others kept to refuse them by name.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/families/run_config.h"

namespace harmonium::cli {

// What follows `flag` on the command line ("--model vae", "--model=vae"); empty where it is not given. Asked before
// options are declared, since they depend on the answer.
void remember_arguments(int count, char** arguments);
[[nodiscard]] std::string given_on_command_line(const std::string& flag);
// The family that `train` is about: by --model, else by the TOML file that is named, else the usual one.
[[nodiscard]] std::string family_on_command_line();

class ConfigFlags {
 public:
  // A flag for every option of the family. After parsing, only flags that were given override what a file says.
  void declare(CLI::App& command, const std::string& family);
  // Defaults, then the file (where not empty), then the flags.
  [[nodiscard]] RunConfig resolve(const std::string& file) const;
  // The same over another start than the defaults.
  [[nodiscard]] RunConfig resolve(RunConfig config) const;

 private:
  RunConfig values_;
  std::vector<std::pair<std::string, CLI::Option*>> options_;  // of the family, by name
  std::vector<std::pair<std::string, CLI::Option*>> foreign_;  // of other families
  std::deque<std::string> unread_;                             // what those were given
};

}  // namespace harmonium::cli
