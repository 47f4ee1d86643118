// A Boltzmann machine inside the file of another model: its tensors have a prefix to their names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harmonium/data/formats/safetensors.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Adds the parameters and returns the description of layers and edges, which is what unpacking needs beside them.
[[nodiscard]] nlohmann::json pack_machine_part(TensorFile& file, const BoltzmannMachine& machine,
                                               const std::string& prefix);
// Fails, naming `where`, for descriptions and tensors that are damaged.
[[nodiscard]] BoltzmannMachine unpack_machine_part(const TensorFile& file, const nlohmann::json& structure,
                                                   const std::string& prefix, const std::string& where);

}  // namespace harmonium
