// From a gradient to the direction of a step. A metric (metric.h) solves for the natural gradient, Adam divides by
// sizes of earlier gradients, Plain leaves it as it is.
//
// An optimizer sees parameters by their names and never a model. Some look at what an update has measured on its way to
// the gradient (an Observation); who computes gradients asks wants_observations() and the like before preparing one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/core/parameter_group.h"
#include "harmonium/geometry/model_statistics.h"

namespace harmonium {

// What one update knows: expected statistics under data and model, and what may be asked about their distribution.
struct Observation {
  const Moments& data;
  const Moments& model;
  std::shared_ptr<const ModelStatistics> statistics;  // may be kept; null where an optimizer asks for nothing
};

// Two parts, since published recipes scale them by separate rates. An entry that neither has is left alone.
struct Direction {
  Moments unary;     // from the gradient of biases and the like; entries of those only
  Moments pairwise;  // every term that contains the gradient of weights; a metric's has all entries

  // Ĝ⁻¹ gradient of a metric, when both parts have rate one.
  [[nodiscard]] Moments total() const { return pairwise.clone().add_some_(unary, 1.0); }
};

// A direction whose two parts cannot be told apart: weights move at the pairwise rate, all else at the unary, times the
// rate of their group. Tensors are shared where that is one.
[[nodiscard]] Direction without_split(const std::vector<ParameterGroup>& groups, const Moments& direction);

// Updates between observations, and between refits.
struct Cadence {
  std::int64_t observe_every = 1, refit_every = 1;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Cadence cadence() const { return {}; }
  // False when it is the same whatever is observed.
  [[nodiscard]] virtual bool wants_observations() const { return false; }
  // False when it does not look at an observation's two moments, and when they are all it looks at.
  [[nodiscard]] virtual bool wants_moments() const { return false; }
  [[nodiscard]] virtual bool wants_statistics() const { return false; }
  // True when observations must come from an enumeration of the model's states and not from particles.
  [[nodiscard]] virtual bool wants_enumeration() const { return false; }
  // Whether it is due at this update (from 0).
  [[nodiscard]] bool observes_at(std::int64_t update) const {
    return wants_observations() && update % cadence().observe_every == 0;
  }
  // Called with what an update has just measured, before direction(), where observes_at() says so.
  virtual void observe(const Observation&) {}

  // Where to go for a gradient to climb, of update `update` (from 0). Good until the next call. A gradient may lack
  // entries; so does the direction, then.
  [[nodiscard]] virtual Direction direction(const Moments& gradient, std::int64_t update) = 0;

  // Numbers about the last direction, for a line of metrics.
  [[nodiscard]] virtual std::map<std::string, double> measurements() const { return {}; }

  // The name under which checkpoints keep the state.
  [[nodiscard]] virtual std::string state_name() const { return name(); }
  [[nodiscard]] virtual NamedTensors state() const { return {}; }
  virtual void restore(const NamedTensors&) {}
  // Sentences for a person since the last call, such as a damping that had to be raised.
  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 protected:
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

 private:
  std::vector<std::string> notes_;
};

struct OptimizerType {
  std::string name, help;
  double usual_rate = 0;  // 0: it depends on what is trained
  std::function<std::unique_ptr<Optimizer>(const std::vector<ParameterGroup>& groups, const Moments& shape)> make;
};
// What any gradient may be climbed by: adam, conservative and sgd (Plain). Metrics, which are for machines, have a
// table of their own (metric.h).
[[nodiscard]] const std::vector<OptimizerType>& optimizers();
// `shape` gives names, shapes and precision of the parameters.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                        const std::vector<ParameterGroup>& groups,
                                                        const Moments& shape);

}  // namespace harmonium
