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
#include "harmonium/core/state.h"
#include "harmonium/core/topology.h"

namespace harmonium {

// What one update knows: expected statistics under data and model, and the chains behind the latter (may be empty).
struct Observation {
  const Moments& data;
  const Moments& model;
  const State& particles;
};

struct Direction {
  Moments unary;     // entries of layers only
  Moments pairwise;  // all entries

  // Ĝ⁻¹ gradient, when both parts have rate one.
  [[nodiscard]] Moments total() const { return pairwise.clone().add_some_(unary, 1.0); }
};

class Metric {
 public:
  virtual ~Metric() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // Called once per update with what it has just measured, before solve().
  virtual void observe(const Observation& observation) = 0;
  // Brings derived quantities (factorizations) up to date with what was observed.
  virtual void refit() = 0;
  [[nodiscard]] virtual Direction solve(const Moments& gradient) const = 0;
  // Ĝ itself, dim(g) × dim(g), in the order of Moments::flatten(); for small machines.
  [[nodiscard]] virtual at::Tensor to_dense() const = 0;
  [[nodiscard]] virtual double log_det() const = 0;

  [[nodiscard]] virtual NamedTensors state() const { return {}; }
  virtual void restore(const NamedTensors&) {}
};

// Names that make_metric() knows, with a line for a help text. These are what the tool calls optimizers.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& metrics();
// `shape` gives names, shapes and precision of the parameters.
[[nodiscard]] std::unique_ptr<Metric> make_metric(const std::string& name, const Topology& topology,
                                                  const Moments& shape);

}  // namespace harmonium
