// Data that a sampler is steered by, starts from or is diagnosed with: given by the user, or those a run has learnt.
#pragma once

#include <optional>
#include <string>

#include "harmonium/data/reading.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/samplers/mode_jumps.h"

namespace harmonium {

// At most so many rows: moments of more are hardly better, and neighbours among more are hardly nearer.
inline constexpr std::int64_t steering_rows = 10'000, labelled_rows = 2'000;

// Where data come from, before they are opened.
struct DataSource {
  std::string spec;
  std::string binarize = "auto";
  Reading reading = {};
  std::int64_t limit = 0;
};
// `given` where it is not empty, else the training data of the run that `model_path` is or lies in; nothing where
// there is no such run.
[[nodiscard]] std::optional<DataSource> find_data(const std::string& given, const std::string& model_path);

// Observed layers of rows of the data, binarized as the run's.
struct SteeringData {
  std::string spec, binarization;
  std::int64_t rows = 0;
  State state;
};
[[nodiscard]] SteeringData open_steering_data(const DataSource& source, const BoltzmannMachine& machine);

// How a state is given to a class: by the machine's own label layer, or by the nearest of labelled rows.
class ClassAssigner {
 public:
  ClassAssigner(const BoltzmannMachine& machine, std::size_t label_layer);
  // Fails where the data have no labels.
  ClassAssigner(const BoltzmannMachine& machine, const DataSource& source);

  [[nodiscard]] NearestLabelled::Assignment assign(const State& state) const;  // distance undefined for a label layer
  [[nodiscard]] std::int64_t classes() const { return classes_; }
  [[nodiscard]] const std::string& how() const { return how_; }
  [[nodiscard]] const std::optional<NearestLabelled>& nearest() const { return nearest_; }

 private:
  std::int64_t classes_ = 0;
  std::string how_;
  std::size_t label_layer_ = 0;
  std::optional<NearestLabelled> nearest_;
};

// The label layer of a joint model of data and label, where the machine has one.
[[nodiscard]] std::optional<std::size_t> find_label_layer(const BoltzmannMachine& machine);

}  // namespace harmonium
