// A Boltzmann machine under training, as the loop around a run sees it (run_loop.h) and as those see it who train
// without a folder.
#pragma once

#include <optional>

#include "harmonium/training/classification_error.h"
#include "harmonium/training/files/run_loop.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/monitor.h"

namespace harmonium {

// Streams of a run's seed, by purpose.
namespace run_streams {
enum : std::uint64_t { initial = 1, batches = 2, updates = 3, monitor = 4 };
}

// Classes of the label layer; 0 where the model has none. Fails where the data have no labels and the model needs them.
[[nodiscard]] std::int64_t label_classes(const RunConfig& config, const RunData& data);

// `chains` are what a negative phase would have saved; empty: it begins as it does. `config` must be resolved.
[[nodiscard]] Training make_machine_training(const RunConfig& config, const RunData& data, BoltzmannMachine machine,
                                             const NamedTensors& chains = {});

class MachineRun final : public Trainee {
 public:
  MachineRun(const RunConfig& config, const RunData& data, Model model, const NamedTensors& chains = {});

  [[nodiscard]] std::map<std::string, double> measure() override;

  // Goes on with other rows, all of them in every update. They must be of the same kind as those before.
  void learn_from(const RunConfig& config, const RunData& data);
  // The averaged model as it is now, sharing its parameters with the training.
  [[nodiscard]] Model current() const;
  // The model to keep at the end: the last, or the best so far where --keep best looks for it; and the update it is of.
  [[nodiscard]] std::pair<Model, std::int64_t> kept() const;

  std::filesystem::path keep_snapshot(const std::filesystem::path& folder, double seconds) override;
  std::int64_t write_final(const std::filesystem::path& file, const RunHooks& hooks) override;

 private:
  Model model_;
  Monitor monitor_;
  std::optional<ClassificationError> all_valid_;
  std::int64_t valid_rows_ = 0;
  std::optional<double> awake_;  // of a deep machine, when it was last measured: the share of upper units
};

}  // namespace harmonium
