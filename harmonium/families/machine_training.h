// Training a Boltzmann machine as a configuration describes it: what the families rbm, classification_rbm, mrf,
// semi_restricted and dbm share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonium/families/family.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/training/objectives/contrastive.h"

namespace harmonium {

// Fails, naming the option, where `spec` is no unit type.
void check_unit(const char* option, const std::string& given, const std::string& spec);
// Visible and hidden layers of a deep machine as unit types, from the bottom up.
[[nodiscard]] std::vector<std::string> chain_specs(const RunConfig& config);

// Whether the model has a label layer; how many classes that has, 0 where there is none. Fails where the data have no
// labels and the model needs them.
[[nodiscard]] bool has_label_layer(const RunConfig& config);
[[nodiscard]] std::int64_t label_classes(const RunConfig& config, const RunData& data);

// Fails where the best model cannot be chosen for lack of validation data.
void require_validation_data(const RunData& data);
// Fails, naming the row, where a value is none that the units can have. Looked at in pieces.
void check_values(const Dataset& data, const Unit& visible);

// Puts initial parameters, averages of the data and notes into a machine that was just built.
[[nodiscard]] TrainedMachine initialized_machine(BoltzmannMachine machine, const RunConfig& config,
                                                 const RunData& data);

// Options that all machines have: gradient, optimizer, rates, particles.
void resolve_machine(RunConfig& config, RunData& data);
// What would fail at the first update, or take for ever.
void check_machine(const BoltzmannMachine& machine, const RunConfig& config, const RunData& data);
// `chains` are what a negative phase would have saved; empty: it begins as it does.
[[nodiscard]] std::unique_ptr<Trainee> train_machine(const RunConfig& config, const RunData& data,
                                                     const TrainedMachine& start, const NamedTensors& chains = {},
                                                     const DataInference& inference = {});

// Goes on with other rows, all of them in every update. They must be of the same kind as those before.
void learn_from(Trainee& trainee, const RunConfig& config, const RunData& data);

}  // namespace harmonium
