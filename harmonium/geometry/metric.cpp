#include "harmonium/geometry/metric.h"

#include "harmonium/core/error.h"
#include "harmonium/geometry/centering.h"
#include "harmonium/geometry/identity.h"

namespace harmonium {

const std::vector<std::pair<std::string, std::string>>& metrics() {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"centering", "statistics centered at their running means: a cheap natural gradient"},
      {"sgd", "plain stochastic gradient"},
  };
  return names;
}

std::unique_ptr<Metric> make_metric(const std::string& name, const Topology& topology, const Moments& shape) {
  if (name == "centering") return std::make_unique<Centering>(topology, shape);
  if (name == "sgd") return std::make_unique<Identity>(topology, shape);
  std::string known;
  for (const auto& [key, help] : metrics()) known += (known.empty() ? "" : ", ") + key;
  fail("unknown optimizer '{}'; there are: {}", name, known);
}

}  // namespace harmonium
