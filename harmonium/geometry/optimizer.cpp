#include "harmonium/geometry/optimizer.h"

#include "harmonium/core/error.h"
#include "harmonium/geometry/adam.h"
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

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const std::vector<ParameterGroup>& groups,
                                          const Moments& shape) {
  if (name == "adam") return std::make_unique<Adam>(groups, shape);
  require(name == "sgd", "unknown optimizer '{}'; there are: adam, sgd", name);
  return std::make_unique<Plain>(groups);
}

}  // namespace harmonium
