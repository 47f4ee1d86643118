// What one update climbs: a model under training as Training (training.h) sees it.
//
// An objective owns what is trained and knows the gradient for a batch; how far and where to step is the business of
// optimizer and step rule. Everything random in an update comes from the update's key, and what the next update needs
// beyond the parameters is in state(), so that a restored training goes on as one that was never stopped.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/parameter_group.h"
#include "harmonium/geometry/optimizer.h"
#include "harmonium/training/batch_stream.h"
#include "harmonium/training/step_rule.h"

namespace harmonium {

class FusedUpdate;

struct Step {
  std::int64_t update = 0;  // from 0
  double fraction = 0;      // of the training that is done, 0 … 1
  Key key;                  // belongs to this update alone
  // Wants to see the moments and statistics of this update; null where nobody looks. It is shown them while they are
  // at hand, so that no copies are kept for it.
  Optimizer* observer = nullptr;
  at::Tensor rows = {};  // of the batch, by their numbers in the data (int64), for what is kept of every row
};

class Objective {
 public:
  virtual ~Objective() = default;

  // What is trained. The tensors are the model's own and are changed in place.
  [[nodiscard]] virtual Moments& parameters() = 0;
  [[nodiscard]] virtual std::vector<ParameterGroup> groups() const = 0;

  // Told once, before the first update. Fails where the data do not fit, or where it cannot show the optimizer what
  // that wants to see.
  virtual void begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step);
  // Batches are these from now on.
  virtual void learn_from(const BatchStream&) {}

  // The direction in which the objective grows, from one batch (a tensor for each observed layer). Entries that this
  // update leaves alone are absent, not zero.
  [[nodiscard]] virtual Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) = 0;
  // Whole updates by kernels of a device, where there are such; else null, and gradient() is asked.
  [[nodiscard]] virtual FusedUpdate* fused() const { return nullptr; }
  // Puts parameters back into their domain.
  virtual void after_step() {}

  // Numbers about the updates since the last call that nobody else knows, such as a mean loss.
  [[nodiscard]] virtual std::map<std::string, double> take_measurements() { return {}; }
  // What to try where training diverges.
  [[nodiscard]] virtual std::string advice() const { return "Lower @rate_weights and @rate_bias (halve them)"; }

  // Names stand beside those of Training in one checkpoint, and restore() is given all of it.
  [[nodiscard]] virtual NamedTensors state() const { return {}; }
  virtual void restore(const NamedTensors&) {}
};

}  // namespace harmonium
