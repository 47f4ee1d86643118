// A Boltzmann machine on disk: its structure, parameters and what it was trained on, in one .safetensors file.
//
// Tensors "visible.bias", "hidden.bias", "visible_hidden.weights", … are the parameters; "data_moments/visible.bias", …
// the averages of the training data that likelihood estimates start from. Metadata names layers, unit types and edges.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/models/belief_net.h"

namespace harmonium {

struct TensorFile;

struct TrainedMachine {
  BoltzmannMachine machine;
  std::string kind = "rbm";                                // which builder made it
  std::vector<std::vector<at::Tensor>> data_moments = {};  // per observed layer, per parameter; empty where unknown

  // What pictures of visible values show as black and white: 0 and 1 for values that lie there; for real ones two
  // standard deviations of the training data around the column means, so that few values are cut.
  [[nodiscard]] std::pair<double, double> shown_range() const;
  std::optional<ImageShape> image = std::nullopt;  // visible layer as a picture
  std::map<std::string, std::string> notes = {};   // training data, binarization, updates, …: text for people
};

void write_machine(const std::filesystem::path& path, const TrainedMachine& model);

// `path` is a run folder (its model.safetensors), a .safetensors file of ours, or an .npz with W (visible × hidden),
// visible_bias and hidden_bias, read as a binary RBM. What it is is told by its content.
[[nodiscard]] TrainedMachine read_machine(const std::filesystem::path& path);
[[nodiscard]] TrainedMachine machine_from_arrays(const std::filesystem::path& npz);
// The bytes of such a file, and back; `where` names them in messages.
[[nodiscard]] std::string encode_machine(const TrainedMachine& model);
[[nodiscard]] TrainedMachine decode_machine(std::string_view bytes, const std::string& where);
[[nodiscard]] TrainedMachine unpack_machine(const TensorFile& file, const std::string& where);

// A stack of machines (models/belief_net.h) on disk: the same for each of them in one file, tensors named
// "machine1/visible.bias", … from the bottom up, and "recognition1/…" where the way up has weights of its own.
struct TrainedStack {
  std::vector<TrainedMachine> machines;  // their notes and pictures are not kept
  std::string kind = "dbn";              // or "classification_dbn"
  std::optional<ImageShape> image = std::nullopt;
  std::map<std::string, std::string> notes = {};
  MachineStack recognition = {};  // machines of the way up for all but the top one; empty: the same as downwards

  [[nodiscard]] BeliefNet net() const;
  // The machines that lead from the data up.
  [[nodiscard]] MachineStack stack() const { return net().up; }
};

void write_stack(const std::filesystem::path& path, const TrainedStack& model);
[[nodiscard]] TrainedStack read_trained_stack(const std::filesystem::path& path);
[[nodiscard]] std::string encode_stack(const TrainedStack& model);
[[nodiscard]] TrainedStack decode_stack(std::string_view bytes, const std::string& where);
[[nodiscard]] TrainedStack unpack_stack(const TensorFile& file, const std::string& where);

}  // namespace harmonium
