// Training, whatever the model: Objective × Optimizer × StepRule × Averaging × BestModel.
//
//   g = objective.gradient(batch);  g −= penalties;  θ += rates · optimizer.direction(g);  constraints;  average
//
// Everything random comes from (seed, update), so that a training restored at update u goes on exactly as one that was
// never stopped. It neither prints nor writes files. Ready-made combinations are in make_training.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/training/averaging.h"
#include "harmonium/training/best_model.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

struct TrainingOptions {
  std::int64_t updates = 5000;
  double averaging = 100;  // time-scale in updates; at most 1 switches it off
  std::uint64_t seed = 0;
  std::int64_t patience = 0;  // finished after so many updates without a new best (observe_error); 0: never
};

class Training {
 public:
  Training(std::unique_ptr<Objective> objective, std::unique_ptr<Optimizer> optimizer, BatchStream batches,
           const StepOptions& step, const TrainingOptions& options);

  // One update. Throws RunFailure, naming update and tensor, when parameters have diverged (looked at every few
  // updates).
  void step();
  // Throws RunFailure when a parameter is not finite or has exploded.
  void check() const;
  // Returns when a device has done all updates that were begun; at once on the CPU.
  void wait() const;
  // Goes on with other batches. What a device has prepared for the next update is made again.
  void learn_from(BatchStream batches);

  [[nodiscard]] std::int64_t update() const { return update_; }  // updates done
  [[nodiscard]] bool finished() const;
  [[nodiscard]] double epoch() const { return batches_.epoch(update_); }
  [[nodiscard]] double gradient_norm() const;  // of the last update; 0 before the first
  // The tensors go on changing with the next step.
  [[nodiscard]] const Moments& parameters() const { return objective_->parameters(); }
  [[nodiscard]] const Moments& averaged() const { return averaging_.average(); }
  // The objective as what it is; it must be that.
  template <class Kind>
  [[nodiscard]] const Kind& objective_as() const {
    return dynamic_cast<const Kind&>(*objective_);
  }

  // What the optimizer has to say since the last call.
  [[nodiscard]] std::vector<std::string> take_notes() { return optimizer_->take_notes(); }
  // epoch, gradient_norm after the first update, and what the objective has measured since the last call.
  [[nodiscard]] std::map<std::string, double> take_measurements();

  // Tells how much the averaged parameters err now, on data that are not learnt from. The best are remembered.
  void observe_error(double error) { best_.observe(averaging_.average(), error, update_); }
  [[nodiscard]] const BestModel& best() const { return best_; }  // empty where no error was told
  // The parameters to keep: the best, or without errors the averaged ones; and the update they are of.
  struct Kept {
    Moments parameters;
    std::int64_t update = 0;
  };
  [[nodiscard]] Kept kept() const;

  // All that the next step needs, and back. Tensors are where the parameters are; those given may be anywhere.
  [[nodiscard]] NamedTensors state() const;
  void restore(std::int64_t update, const NamedTensors& saved);

 private:
  [[nodiscard]] at::Device device() const;

  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Optimizer> optimizer_;
  BatchStream batches_;
  std::vector<ParameterGroup> groups_;
  StepRule rule_;
  Averaging averaging_;
  BestModel best_;
  TrainingOptions options_;
  Key key_;
  std::int64_t update_ = 0;
  Moments gradient_;  // of the last update
};

}  // namespace harmonium
