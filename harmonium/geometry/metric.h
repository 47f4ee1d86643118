// A metric on parameter space: an approximation Ĝ of the Fisher information that can be fitted and solved.
//
// Gradients are moments, so a metric is a linear map Moments → Moments. It sees topology, moments and particles, and
// never a model. `solve` returns the two parts that published recipes scale by separate rates: the unary part (from the
// gradient of the layers' own statistics) and the pairwise part (every term that contains the weights' direction).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/core/topology.h"
#include "harmonium/geometry/model_statistics.h"

namespace harmonium {

// What one update knows: expected statistics under data and model, and what may be asked about their distribution.
struct Observation {
  const Moments& data;
  const Moments& model;
  std::shared_ptr<const ModelStatistics> statistics;  // may be kept; null where a metric asks for nothing
};

struct Direction {
  Moments unary;     // entries of layers only
  Moments pairwise;  // all entries

  // Ĝ⁻¹ gradient, when both parts have rate one.
  [[nodiscard]] Moments total() const { return pairwise.clone().add_some_(unary, 1.0); }
};

// A direction whose two parts cannot be told apart: layers' entries move at the unary rate, weights at the pairwise.
[[nodiscard]] Direction without_split(const Topology& topology, const Moments& direction);

// Updates between observations, and between refits.
struct Cadence {
  std::int64_t observe_every = 1, refit_every = 1;
};

class FactorizedGaussian;

class Metric {
 public:
  virtual ~Metric() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Cadence cadence() const { return {}; }
  // False when it is the same whatever is observed.
  [[nodiscard]] virtual bool wants_observations() const { return true; }
  // False when it does not look at an observation's two moments, and when they are all it looks at.
  [[nodiscard]] virtual bool wants_moments() const { return true; }
  [[nodiscard]] virtual bool wants_statistics() const { return true; }
  // True when observations must come from an enumeration of the model's states and not from particles.
  [[nodiscard]] virtual bool wants_enumeration() const { return false; }
  // Called with what an update has just measured, before solve(), as often as cadence() says and at the first update.
  virtual void observe(const Observation& observation) = 0;
  // Brings derived quantities (factorizations) up to date with what was observed.
  virtual void refit() = 0;
  [[nodiscard]] virtual Direction solve(const Moments& gradient) const = 0;
  // The graphical model that solve() solves, where there is one over the products' own units; else null.
  [[nodiscard]] virtual const FactorizedGaussian* factorized() const { return nullptr; }
  // Ĝ itself, dim(g) × dim(g), in the order of Moments::flatten(), float64; for small machines.
  [[nodiscard]] virtual at::Tensor to_dense() const = 0;
  [[nodiscard]] virtual double log_det() const = 0;
  // Free parameters of the approximation, as a statistician counts them.
  [[nodiscard]] virtual std::int64_t parameter_count() const = 0;

  [[nodiscard]] virtual NamedTensors state() const { return {}; }
  virtual void restore(const NamedTensors&) {}
  // Sentences for a person since the last call, such as a damping that had to be raised.
  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 protected:
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

 private:
  std::vector<std::string> notes_;
};

// The published recipe of FANG; what a metric has no use for it ignores.
struct MetricOptions {
  double damping = 0.01;               // added to the diagonal of every covariance that is inverted
  bool centered_damping = true;        // fang: damp the covariance of centered products; false: of plain ones
  double time_scale = 100;             // updates over which statistics average
  std::int64_t statistics_every = 10;  // updates between observations
  std::int64_t refit_every = 100;      // updates between factorizations
  std::int64_t rank = 50;              // low_rank: eigenpairs kept
  std::int64_t iterations = 10;        // metric_free: conjugate-gradient steps
  std::uint64_t seed = 0;              // fang_random: which parents
};

// Names that make_metric() knows, with a line for a help text. These are what the tool calls optimizers.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& metrics();
// `shape` gives names, shapes and precision of the parameters.
[[nodiscard]] std::unique_ptr<Metric> make_metric(const std::string& name, const Topology& topology,
                                                  const Moments& shape, const MetricOptions& options = {});

}  // namespace harmonium
