// The loop around whatever a run trains: its folder, metrics, checkpoints, snapshots, clock and how it is stopped.
//
// A run can be stopped at any moment, by request or by force, and taken up again from its newest checkpoint; what is
// trained must be a function of its seed and of what state() holds.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/training/files/run.h"
#include "harmonium/training/training.h"

namespace harmonium {

// A training, and what is about its model: measuring and writing.
class Trainee {
 public:
  explicit Trainee(Training training) : training_(std::move(training)) {}
  virtual ~Trainee() = default;

  void step() { training_.step(); }
  [[nodiscard]] std::int64_t update() const { return training_.update(); }  // updates done
  // Asked before and after a line of metrics: a new best on the last line lets a run with patience go on.
  [[nodiscard]] bool finished() const { return training_.finished(); }
  void check() const { training_.check(); }
  void wait() const { training_.wait(); }
  [[nodiscard]] std::vector<std::string> take_notes() { return training_.take_notes(); }
  [[nodiscard]] NamedTensors state() const { return training_.state(); }
  void restore(std::int64_t update, const NamedTensors& tensors) { training_.restore(update, tensors); }

  // A line of metrics. May remember the best model so far, which is then part of the state.
  [[nodiscard]] virtual std::map<std::string, double> measure() = 0;

  // Returns what was written.
  virtual std::filesystem::path keep_snapshot(const std::filesystem::path& folder, double seconds) = 0;
  // Writes the model to keep at the end, and returns the update it is of.
  virtual std::int64_t write_final(const std::filesystem::path& file, const RunHooks& hooks) = 0;

 protected:
  Training training_;
};

// Trains in `folder` from its newest checkpoint, or from the start where there is none, and writes model.safetensors.
[[nodiscard]] RunResult run_loop(const std::filesystem::path& folder, const RunConfig& config,
                                 const std::string& config_text, const RunHooks& hooks, Trainee& trainee);

}  // namespace harmonium
