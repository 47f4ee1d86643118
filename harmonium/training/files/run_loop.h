// The loop around whatever a run trains: its folder, metrics, checkpoints, snapshots, clock and how it is stopped.
//
// A run can be stopped at any moment, by request or by force, and taken up again from its newest checkpoint; what is
// trained must be a function of its seed and of what state() holds.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/training/files/run.h"

namespace harmonium {

class Trainee {
 public:
  virtual ~Trainee() = default;

  virtual void step() = 0;
  [[nodiscard]] virtual std::int64_t update() const = 0;  // updates done
  [[nodiscard]] virtual bool finished() const = 0;
  // Throws RunFailure when parameters have diverged: never over a good checkpoint with a bad one.
  virtual void check() const = 0;
  // Returns when a device has done all that was begun.
  virtual void wait() const {}
  // Sentences for a person since the last call.
  [[nodiscard]] virtual std::vector<std::string> take_notes() { return {}; }

  // A line of metrics. May remember the best model so far, which is then part of the state.
  [[nodiscard]] virtual std::map<std::string, double> measure() = 0;

  [[nodiscard]] virtual NamedTensors state() const = 0;
  virtual void restore(std::int64_t update, const NamedTensors& tensors) = 0;

  // Both return what was written.
  virtual std::filesystem::path keep_snapshot(const std::filesystem::path& folder, double seconds) = 0;
  // The model to keep at the end, and the update it is of.
  virtual std::int64_t write_final(const std::filesystem::path& file, const RunHooks& hooks) = 0;
};

// Trains in `folder` from its newest checkpoint, or from the start where there is none, and writes model.safetensors.
[[nodiscard]] RunResult run_loop(const std::filesystem::path& folder, const RunConfig& config,
                                 const std::string& config_text, const RunHooks& hooks, Trainee& trainee);

}  // namespace harmonium
