// From what a user asks for to a configuration without "auto": data are opened, options that every family has are
// settled here, the rest by the family.
#pragma once

#include <memory>

#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/families/trainee.h"

namespace harmonium {

// Opens the data and replaces every "auto" and zero in the configuration by what it stands for.
[[nodiscard]] RunData resolve(RunConfig& config);
// The same for data that are open already: what config says of data are names, and of `data` binarization is filled in.
void resolve(RunConfig& config, RunData& data);

// What a check has built on its way, for who goes on to train; empty where stages come first.
struct PreparedRun {
  std::unique_ptr<Model> start;
  std::unique_ptr<Trainee> trainee;
};
// Fails where the configuration asks for something that does not exist, makes no sense or would take too long, so that
// a mistake shows before anything is written. `config` must be resolved.
PreparedRun check_config(const RunConfig& config, const RunData& data);

}  // namespace harmonium
