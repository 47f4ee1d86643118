#include "harmonium/geometry/metric.h"

#include "harmonium/core/error.h"
#include "harmonium/geometry/block_diagonal.h"
#include "harmonium/geometry/centering.h"
#include "harmonium/geometry/diagonal.h"
#include "harmonium/geometry/exact_metric.h"
#include "harmonium/geometry/fang.h"
#include "harmonium/geometry/identity.h"
#include "harmonium/geometry/low_rank.h"
#include "harmonium/geometry/metric_free.h"

namespace harmonium {

const std::vector<std::pair<std::string, std::string>>& metrics() {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"fang", "factorized natural gradient: units jointly Gaussian, every product regressed on its two units"},
      {"centering", "statistics centered at their running means: a cheap natural gradient"},
      {"enhanced", "the enhanced gradient: centered at the mean of data and model"},
      {"sgd", "plain stochastic gradient"},
      {"diagonal", "every statistic divided by its variance"},
      {"block_diagonal", "one block per hidden unit; for small machines"},
      {"low_rank", "the leading eigenvectors of the Fisher information, the rest isotropic"},
      {"fang_random", "FANG with random parents: the control"},
      {"metric_free", "natural gradient by conjugate gradient on the particles, no matrix formed"},
      {"exact", "the enumerated Fisher information; at most 20 units on one side"},
  };
  return names;
}

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
  if (name == "fang") return std::make_unique<Fang>(topology, shape, options);
  if (name == "fang_random") return std::make_unique<Fang>(topology, shape, options, FangParents::random);
  if (name == "centering")
    return std::make_unique<Centering>(topology, shape, CenteringOptions{.time_scale = options.time_scale});
  if (name == "enhanced")
    return std::make_unique<Centering>(topology, shape, CenteringOptions{.time_scale = 1, .enhanced = true});
  if (name == "sgd") return std::make_unique<Identity>(topology, shape);
  if (name == "diagonal") return std::make_unique<Diagonal>(topology, shape, options);
  if (name == "block_diagonal") return std::make_unique<BlockDiagonal>(topology, shape, options);
  if (name == "low_rank") return std::make_unique<LowRank>(topology, shape, options);
  if (name == "metric_free") return std::make_unique<MetricFree>(topology, shape, options);
  if (name == "exact") return std::make_unique<ExactMetric>(topology, shape, options);
  std::string known;
  for (const auto& [key, help] : metrics()) known += (known.empty() ? "" : ", ") + key;
  fail("unknown optimizer '{}'; there are: {}", name, known);
}

}  // namespace harmonium
