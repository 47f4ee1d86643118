// Training nets with real latent variables by a bound: what vae, ladder and draw share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harmonium/families/real_latent_model.h"
#include "harmonium/families/run_config.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

struct RealLatentTraining {
  BoundOptions bound;
  Moments parameters;  // moved in place
  std::vector<ParameterGroup> groups;
  // The net in an update with this key; some of its values may be dropped.
  std::function<std::shared_ptr<const LatentModel>(const Key& key)> net;
  // The one-draw bound, as it is climbed and as it is shown; without gradients where nobody asks for any.
  std::function<SurrogateAscent::Value(const Moments& leaves, const at::Tensor& rows, const Key& key,
                                       const ElboOptions& options)>
      one_draw;
};

[[nodiscard]] std::unique_ptr<Objective> make_objective(RealLatentTraining training);

// The bound that is climbed, without free nats or warm-up, of rows that may lie elsewhere: LikelihoodHooks::mean. `net`
// is whole; `one_draw` is its one-draw bound.
[[nodiscard]] std::function<double(const Moments& parameters, const at::Tensor& rows)> watched_bound(
    const RunConfig& config, const BoundOptions& bound, std::shared_ptr<const LatentModel> net,
    std::function<double(const Moments& parameters, const at::Tensor& rows, const Key& key)> one_draw);

}  // namespace harmonium
