// Training from Python, without a run folder: one machine, a stack of them, or a deep one with its pretraining.
//
// The loop runs without the interpreter. Stopped by Ctrl-C (or by whatever a callback raises) it keeps what was learnt
// so far. What the next update needs (chains, averages, what the metric has seen) stays, and the data do not.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/families/family.h"
#include "harmonium/families/machine_file.h"
#include "watch.h"

namespace harmonium::python {

struct LearnerProgress {
  std::int64_t update, total;  // over all stages
  double seconds, epoch;
  const std::map<std::string, double>& metrics;  // the latest; empty where none are measured
};

struct LearnOptions {
  int threads = 0;
  bool monitor = false;                                   // measure every log_every updates
  std::function<void(const LearnerProgress&)> show = {};  // may be empty; called with the interpreter held
};

class Learner {
 public:
  // Resolves and checks the configuration for these data.
  Learner(RunConfig config, RunData data);
  // From what state() said.
  Learner(RunConfig config, TrainedStack model, std::int64_t update, NamedTensors state);

  // Begins with this model in place of a random one. It must be of the kind and size that the configuration describes.
  void start_from(TrainedStack model);

  void learn(const LearnOptions& options);
  // One update by all rows of `data`.
  void learn_batch(RunData data, const LearnOptions& options);

  // The model to keep: a copy. One machine, or those of a stack that have been trained at least in part.
  [[nodiscard]] TrainedStack model() const;
  [[nodiscard]] const RunConfig& config() const { return config_; }
  [[nodiscard]] std::int64_t update() const { return update_; }  // of the machine at hand
  [[nodiscard]] NamedTensors state() const;
  // Persistent chains, a tensor for each layer; empty where there are none.
  [[nodiscard]] std::vector<at::Tensor> chains() const;
  // What was measured: one map for every line, with "update" and "seconds" in it.
  [[nodiscard]] const std::vector<std::map<std::string, double>>& history() const { return history_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  void learn_stack(const Stages& stages, const LearnOptions& options);
  void learn_machine(const LearnOptions& options);
  [[nodiscard]] StageModels pretrain(const Stages& stages, const LearnOptions& options);
  // Trains `run` to its end; `before` and `total` place it among all stages.
  void loop(Trainee& run, const RunConfig& config, const LearnOptions& options, std::int64_t before,
            std::int64_t total);
  // Takes the model and what the next update needs out of the run, and lets go of it and of the data.
  void put_away();

  RunConfig config_;
  RunData data_;
  std::unique_ptr<Model> initial_;  // until training begins; not of a stack
  std::unique_ptr<Trainee> run_;
  TrainedStack finished_;    // machines that are done
  NamedTensors state_;       // of the last machine, while no run is under way
  std::int64_t update_ = 0;  // likewise
  double seconds_ = 0;
  std::vector<std::map<std::string, double>> history_;
};

// The configuration for training by batches that come one by one, nobody knows how many: rates do not fall to zero.
[[nodiscard]] RunConfig endless(RunConfig config);

}  // namespace harmonium::python
