#include "harmonium/geometry/optimizer.h"

#include "harmonium/core/named_table.h"
#include "harmonium/geometry/adam.h"
#include "harmonium/geometry/conservative.h"
#include "harmonium/geometry/plain.h"

namespace harmonium {

Direction without_split(const std::vector<ParameterGroup>& groups, const Moments& direction) {
  Direction result;
  for (const ParameterGroup& group : groups)
    for (const std::string& name : group.names) {
      if (!direction.contains(name)) continue;
      const at::Tensor& value = direction[name];
      (group.kind == ParameterKind::weights ? result.pairwise : result.unary)
          .insert(name, group.rate == 1 ? value : value * group.rate);
    }
  return result;
}

const std::vector<OptimizerType>& optimizers() {
  static const std::vector<OptimizerType> types = {
      {.name = "adam",
       .help = "steps divided by the size of earlier gradients",
       .make = [](const std::vector<ParameterGroup>& groups,
                  const Moments& shape) { return std::make_unique<Adam>(groups, shape); }},
      {.name = "conservative",
       .help = "of four ways to choose a step, the smallest",
       .usual_rate = 0.001,
       .make = [](const std::vector<ParameterGroup>& groups,
                  const Moments& shape) { return std::make_unique<Conservative>(groups, shape); }},
      {.name = "sgd",
       .help = "plain stochastic gradient",
       .usual_rate = 0.01,
       .make = [](const std::vector<ParameterGroup>& groups,
                  const Moments&) { return std::make_unique<Plain>(groups); }},
  };
  return types;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const std::vector<ParameterGroup>& groups,
                                          const Moments& shape) {
  return find_named(optimizers(), name, "optimizer").make(groups, shape);
}

}  // namespace harmonium
