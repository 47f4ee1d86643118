#include "harmonium/geometry/metric.h"

#include <algorithm>

#include "harmonium/core/named_table.h"
#include "harmonium/geometry/block_diagonal.h"
#include "harmonium/geometry/centering.h"
#include "harmonium/geometry/diagonal.h"
#include "harmonium/geometry/exact_metric.h"
#include "harmonium/geometry/fang.h"
#include "harmonium/geometry/identity.h"
#include "harmonium/geometry/low_rank.h"
#include "harmonium/geometry/metric_free.h"

namespace harmonium {

bool MetricType::has(const std::string& option) const {
  return std::ranges::find(own_options, option) != own_options.end();
}

namespace {

template <class Type>
std::unique_ptr<Metric> metric_of(const Topology& topology, const Moments& shape, const MetricOptions& options) {
  return std::make_unique<Type>(topology, shape, options);
}

}  // namespace

const std::vector<MetricType>& metrics() {
  using Inner = MetricType::InnerEdges;
  // Steps along the gradient itself, whose size is that of the gradient.
  constexpr Rates plain = {.bias = 0.1, .weights = 0.1}, plain_labels = {.bias = 5, .weights = 5};
  static const std::vector<MetricType> types = {
      {.name = "fang",
       .help = "factorized natural gradient: units jointly Gaussian, every product regressed on its two units",
       .make = metric_of<Fang>,
       .inner_edges = Inner::yes},
      {.name = "centering",
       .help = "statistics centered at their running means: a cheap natural gradient",
       .make =
           [](const Topology& topology, const Moments& shape, const MetricOptions& options) {
             return std::make_unique<Centering>(topology, shape, CenteringOptions{.time_scale = options.time_scale});
           },
       .rates = plain,
       .label_rates = plain_labels,
       .inner_edges = Inner::yes},
      {.name = "enhanced",
       .help = "the enhanced gradient: centered at the mean of data and model",
       .make =
           [](const Topology& topology, const Moments& shape, const MetricOptions&) {
             return std::make_unique<Centering>(topology, shape, CenteringOptions{.time_scale = 1, .enhanced = true});
           },
       .rates = plain,
       .label_rates = plain_labels,
       .inner_edges = Inner::yes},
      {.name = "sgd",
       .help = "plain stochastic gradient",
       .make = [](const Topology& topology, const Moments& shape,
                  const MetricOptions&) { return std::make_unique<Identity>(topology, shape); },
       .rates = plain,
       .label_rates = plain_labels,
       .inner_edges = Inner::yes},
      {.name = "diagonal",
       .help = "every statistic divided by its variance",
       .make = metric_of<Diagonal>,
       .rates = {.bias = 0.02, .weights = 0.02},
       .label_rates = {.bias = 0.02, .weights = 0.02},
       .inner_edges = Inner::yes},
      {.name = "block_diagonal",
       .help = "one block per hidden unit; for small machines",
       .make = metric_of<BlockDiagonal>},
      {.name = "low_rank",
       .help = "the leading eigenvectors of the Fisher information, the rest isotropic",
       .make = metric_of<LowRank>,
       .own_options = {"rank"}},
      {.name = "fang_random",
       .help = "FANG with random parents: the control",
       .make =
           [](const Topology& topology, const Moments& shape, const MetricOptions& options) {
             return std::make_unique<Fang>(topology, shape, options, FangParents::random);
           }},
      {.name = "metric_free",
       .help = "natural gradient by conjugate gradient on the particles, no matrix formed",
       .make = metric_of<MetricFree>,
       .inner_edges = Inner::from_chains,
       .own_options = {"iterations"}},
      {.name = "exact",
       .help = "the enumerated Fisher information; at most 20 units on one side",
       .make = metric_of<ExactMetric>},
  };
  return types;
}

const MetricType& find_metric(const std::string& name) { return find_named(metrics(), name, "optimizer"); }

Direction without_split(const Topology& topology, const Moments& direction) {
  Direction result;
  for (const LayerInfo& layer : topology.layers)
    for (const std::string& name : layer.parameters) {
      result.unary.insert(name, direction[name]);
      result.pairwise.insert(name, at::zeros_like(direction[name]));
    }
  for (const EdgeInfo& edge : topology.edges) result.pairwise.insert(edge.weights, direction[edge.weights]);
  return result;
}

std::unique_ptr<Metric> make_metric(const std::string& name, const Topology& topology, const Moments& shape,
                                    const MetricOptions& options) {
  return find_metric(name).make(topology, shape, options);
}

}  // namespace harmonium
