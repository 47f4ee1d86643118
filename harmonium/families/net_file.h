// A feed-forward net on disk: layers, parameters (float32) and what it was trained on, in one .safetensors file beside
// whose metadata are those of other models (model_file.h).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harmonium/data/dataset.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/feed_forward.h"

namespace harmonium {

struct TensorFile;

struct TrainedNet {
  FeedForward net;
  std::string kind = "mlp";                        // or "autoencoder"
  std::optional<ImageShape> image = std::nullopt;  // inputs as a picture
  std::map<std::string, std::string> notes = {};   // training data, binarization, updates, …: text for people
  // A deep Boltzmann machine whose posterior stands beside every row in the net's input (posterior_inputs.h).
  std::optional<BoltzmannMachine> posterior = std::nullopt;

  // Columns of the data: the net's inputs without those that the machine adds.
  [[nodiscard]] std::int64_t columns() const;
  // Rows as the net takes them.
  [[nodiscard]] at::Tensor input(const at::Tensor& rows) const;
};

void write_net(const std::filesystem::path& path, const TrainedNet& model);

// `path` is a run folder (its model.safetensors) or a file. Fails for models of other kinds.
[[nodiscard]] TrainedNet read_net(const std::filesystem::path& path);

// The bytes of such a file, and back; `where` names them in messages.
[[nodiscard]] std::string encode_net(const TrainedNet& model);
[[nodiscard]] TrainedNet unpack_net(const TensorFile& file, const std::string& where);

}  // namespace harmonium
