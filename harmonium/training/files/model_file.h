// A model on disk: its structure, parameters and what it was trained on, in one .safetensors file.
//
// Tensors "visible.bias", "hidden.bias", "visible_hidden.weights", … are the parameters; "data_moments/visible.bias", …
// the averages of the training data that likelihood estimates start from. Metadata names layers, unit types and edges.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct Model {
  BoltzmannMachine machine;
  std::string kind = "rbm";                                // which builder made it
  std::vector<std::vector<at::Tensor>> data_moments = {};  // per observed layer, per parameter; empty where unknown
  std::optional<ImageShape> image = std::nullopt;          // visible layer as a picture
  std::map<std::string, std::string> notes = {};           // training data, binarization, updates, …: text for people
};

void write_model(const std::filesystem::path& path, const Model& model);

// `path` is a run folder (its model.safetensors), a .safetensors file of ours, or an .npz with W (visible × hidden),
// visible_bias and hidden_bias, read as a binary RBM. What it is is told by its content.
[[nodiscard]] Model read_model(const std::filesystem::path& path);

}  // namespace harmonium
