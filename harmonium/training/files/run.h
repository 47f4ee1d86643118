// A training run in a folder: config.toml, metrics.jsonl, checkpoint/, snapshots/, model.safetensors.
//
// A run can be stopped at any moment, by request or by force, and taken up again: it then ends with the same bytes in
// model.safetensors as one that was never stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "harmonium/data/dataset.h"
#include "harmonium/training/files/model_file.h"
#include "harmonium/training/run_config.h"

namespace harmonium {

struct RunProgress {
  std::int64_t update = 0, total = 0;
  double seconds = 0;                            // of training so far, earlier sittings included
  double updates_per_second = 0;                 // lately
  const std::map<std::string, double>& metrics;  // the latest
};

struct RunHooks {
  std::function<bool()> stop_requested = [] { return false; };                   // asked after every update
  std::function<void(const RunProgress&)> progress = [](const RunProgress&) {};  // after every update
  std::function<void(const std::string&)> message = [](const std::string&) {};   // a sentence for a person
  std::function<void(const std::filesystem::path&)> snapshot = [](const std::filesystem::path&) {};  // once written
};

struct RunResult {
  std::int64_t updates = 0;
  double seconds = 0;
  bool finished = false;
  std::int64_t kept = 0;  // the update of the model that was written, once finished
  std::map<std::string, double> metrics = {};
};

// What a configuration resolves to, once its data are open.
struct RunData {
  Dataset train, valid;  // valid may have no rows
  Binarization binarization = Binarization::none;
  std::int64_t classes = 0;  // of the labels; 0: as many as the training data have
};

// How a configuration is written to config.toml.
using ConfigText = std::function<std::string(const RunConfig&)>;

// Opens the data and replaces every "auto" and zero in the configuration by what it stands for.
[[nodiscard]] RunData resolve(RunConfig& config);
// The same for data that are open already: what config says of data are names, and of `data` binarization is filled in.
void resolve(RunConfig& config, RunData& data);

// Visible and hidden layers of a deep machine as unit types, from the bottom up.
[[nodiscard]] std::vector<std::string> chain_specs(const RunConfig& config);
// Fails, naming the flag, where `spec` is no unit type.
void check_unit(const char* flag, const std::string& given, const std::string& spec);

// Whether the model has a label layer.
[[nodiscard]] bool knows_labels(const RunConfig& config);

// Multiplications in one update, roughly: what decides whether threads are worth their while.
[[nodiscard]] double products_per_update(const RunConfig& config);

// Fails, naming the row, where a value is none that the units can have.
void check_values(const Dataset& data, const Unit& visible);

// A machine with initial parameters, as the configuration describes it.
[[nodiscard]] Model initial_model(const RunConfig& config, const RunData& data);

// Fails where the configuration asks for something that does not exist, makes no sense or would take too long, so that
// a mistake shows before anything is written. `config` must be resolved.
void check_config(const RunConfig& config, const RunData& data);
// The same for a machine whose initial_model() is at hand already.
void check_config(const RunConfig& config, const RunData& data, const Model& initial);

// Trains in `folder` from its newest checkpoint, or from the start where there is none, and writes model.safetensors.
// `config` must be resolved.
[[nodiscard]] RunResult run_training(const std::filesystem::path& folder, const RunConfig& config,
                                     const ConfigText& config_text, const RunData& data, const RunHooks& hooks);

}  // namespace harmonium
