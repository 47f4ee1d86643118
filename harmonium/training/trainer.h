// The training loop's body: one update of a machine by data moments, model moments, a metric and a step rule.
//
//   gradient = s_data − s_model;  direction = metric.solve(gradient);  θ += rates · direction;  average
//
// A machine without hidden layers has the same data moments at every update: they are taken over all data once, so that
// batches add no noise, unless the negative phase belongs to the batch.
//
// Everything random comes from (seed, update), so a trainer restored at update u continues exactly as one that was
// never stopped. It neither prints nor writes files.
#pragma once

#include <memory>

#include "harmonium/core/device.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/training/averaging.h"
#include "harmonium/training/batch_stream.h"
#include "harmonium/training/device_update.h"
#include "harmonium/training/sparsity.h"
#include "harmonium/training/step_rule.h"

namespace harmonium {

struct TrainerOptions {
  std::int64_t updates = 5000;
  double averaging = 100;  // time-scale in updates; at most 1 switches it off
  std::uint64_t seed = 0;
  SparsityOptions sparsity = {};
};

class Trainer {
 public:
  Trainer(BoltzmannMachine machine, BatchStream batches, std::unique_ptr<NegativePhase> negative_phase,
          std::unique_ptr<Metric> metric, const StepOptions& step, const TrainerOptions& options);

  // One update. Throws RunFailure, naming update and tensor, when parameters have diverged (looked at every few
  // updates).
  void step();
  // Goes on with other batches. What a device has prepared for the next update is made again.
  void learn_from(BatchStream batches);
  // Throws RunFailure when a parameter is not finite or has exploded.
  void check() const;

  [[nodiscard]] std::int64_t update() const { return update_; }  // updates done
  [[nodiscard]] bool finished() const { return update_ >= options_.updates; }
  [[nodiscard]] double epoch() const { return batches_.epoch(update_); }
  [[nodiscard]] double gradient_norm() const;  // of the last update
  [[nodiscard]] const BoltzmannMachine& machine() const { return machine_; }
  // The machine with averaged parameters (shared with the trainer: they move on with the next step).
  [[nodiscard]] BoltzmannMachine averaged() const { return machine_.with_parameters(averaging_.average()); }
  [[nodiscard]] const State& particles() const;
  // What the metric has to say since the last call.
  [[nodiscard]] std::vector<std::string> take_notes() { return metric_->take_notes(); }

  // Returns when a device has done all updates that were begun; at once on the CPU.
  void wait() const { wait_for_device(machine_.parameters().entries().front().second); }

  // All that the next step needs, and back. Tensors are where the machine is; those given may be anywhere.
  [[nodiscard]] NamedTensors state() const;
  void restore(std::int64_t update, const NamedTensors& saved);

 private:
  // The two ways of an update up to the step; the second where device_update_ is.
  void general_step(const Key& key);
  void device_step(const Key& key);
  // What a metric may ask about the model: from the chains, or where there are none from the moments that the negative
  // phase found, if those say enough, or by enumeration.
  [[nodiscard]] std::shared_ptr<const ModelStatistics> statistics(const Moments& model) const;
  [[nodiscard]] std::shared_ptr<const ModelStatistics> device_statistics();
  [[nodiscard]] bool enumerates() const;
  [[nodiscard]] Moments moments_of_all_data() const;

  BoltzmannMachine machine_;
  BatchStream batches_;
  std::unique_ptr<NegativePhase> negative_phase_;
  std::unique_ptr<Metric> metric_;
  Sparsity sparsity_;
  StepRule rule_;
  Averaging averaging_;
  std::unique_ptr<DeviceUpdate> device_update_;  // null where the general way is taken
  TrainerOptions options_;
  Key key_;
  std::int64_t update_ = 0;
  Moments gradient_;
  Moments all_data_;  // empty where batches decide
};

}  // namespace harmonium
