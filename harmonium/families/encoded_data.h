// Data as the hidden layer of a model shows them: what the next stage of a stack or of a pretraining learns.
#pragma once

#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/feed_forward.h"

namespace harmonium {

// Means of the machine's hidden units, in pieces. Where they are probabilities, every update draws its batch from them.
[[nodiscard]] RunData encode_data(const BoltzmannMachine& machine, const RunData& data);
// Values of the first layer of a net.
[[nodiscard]] RunData encode_data(const FeedForward& net, const RunData& data);

// "500,250" as ["500", "250"]; nothing for "none".
[[nodiscard]] std::vector<std::string> split_layers(const std::string& layers);
// The same as numbers of units; fails, naming the option layers, where an item is not one.
[[nodiscard]] std::vector<std::int64_t> layer_widths(const std::string& layers);

}  // namespace harmonium
