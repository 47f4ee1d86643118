// A metric on parameter space: an approximation Ĝ of the Fisher information that can be fitted and solved.
//
// Gradients are moments, so a metric is a linear map Moments → Moments. It sees topology, moments and particles, and
// never a model. `solve` returns the two parts that published recipes scale by separate rates: the unary part (from the
// gradient of the layers' own statistics) and the pairwise part (every term that contains the weights' direction).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/topology.h"
#include "harmonium/geometry/optimizer.h"

namespace harmonium {

// A direction whose two parts cannot be told apart: layers' entries move at the unary rate, weights at the pairwise.
[[nodiscard]] Direction without_split(const Topology& topology, const Moments& direction);

class FactorizedGaussian;

class Metric : public Optimizer {
 public:
  [[nodiscard]] bool wants_observations() const override { return true; }
  [[nodiscard]] bool wants_moments() const override { return true; }
  [[nodiscard]] bool wants_statistics() const override { return true; }
  void observe(const Observation& observation) override = 0;
  // Brings derived quantities (factorizations) up to date with what was observed.
  virtual void refit() = 0;
  void refit_if_due(std::int64_t update) {
    if (update % cadence().refit_every == 0) refit();
  }
  [[nodiscard]] virtual Direction solve(const Moments& gradient) const = 0;
  [[nodiscard]] Direction direction(const Moments& gradient, std::int64_t update) final {
    refit_if_due(update);
    return solve(gradient);
  }
  // The graphical model that solve() solves, where there is one over the products' own units; else null.
  [[nodiscard]] virtual const FactorizedGaussian* factorized() const { return nullptr; }
  // Ĝ itself, dim(g) × dim(g), in the order of Moments::flatten(), float64; for small machines.
  [[nodiscard]] virtual at::Tensor to_dense() const = 0;
  [[nodiscard]] virtual double log_det() const = 0;
  // Free parameters of the approximation, as a statistician counts them.
  [[nodiscard]] virtual std::int64_t parameter_count() const = 0;

  [[nodiscard]] std::string state_name() const final { return "metric"; }
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

// Learning rates of the two parts of a direction.
struct Rates {
  double bias = 0, weights = 0;
};

// What the tool calls an optimizer.
struct MetricType {
  std::string name, help;
  std::function<std::unique_ptr<Metric>(const Topology& topology, const Moments& shape, const MetricOptions& options)>
      make;
  // Usual rates. Those of a natural gradient: a rate of one would fit the batch at hand, and noise with it.
  Rates rates = {.bias = 0.05, .weights = 0.005};
  // Where log p(label | data) is climbed, a fraction of a nat per row where log p(data) is a hundred.
  Rates label_rates = rates;
  // What it can make of edges inside a layer: nothing, solve for them from chains, or from moments of pairs as well.
  enum class InnerEdges { no, from_chains, yes } inner_edges = InnerEdges::no;
  std::vector<std::string> own_options = {};  // those of MetricOptions that it alone has
  [[nodiscard]] bool has(const std::string& option) const;
};

// All there are: make_metric(), help texts and messages read this table.
[[nodiscard]] const std::vector<MetricType>& metrics();
[[nodiscard]] const MetricType& find_metric(const std::string& name);  // fails where there is none
// `shape` gives names, shapes and precision of the parameters.
[[nodiscard]] std::unique_ptr<Metric> make_metric(const std::string& name, const Topology& topology,
                                                  const Moments& shape, const MetricOptions& options = {});

}  // namespace harmonium
