#include "harmonium/families/real_latent_training.h"

#include <c10/core/GradMode.h>

#include "harmonium/families/run_data.h"
#include "harmonium/gradients/objectives/path_objective.h"
#include "harmonium/likelihood/importance_bound.h"

namespace harmonium {

std::unique_ptr<Objective> make_objective(RealLatentTraining training) {
  SurrogateAscent::Function climb;
  if (training.bound.one_draw())
    climb = [bound = training.bound, one_draw = std::move(training.one_draw)](
                const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
      return one_draw(leaves, batch.front(), step.key, bound.at(step.update));
    };
  else
    climb = [climbed = PathObjective(training.bound.objective), net = std::move(training.net)](
                const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
      const PathObjective::Surrogate found = climbed.estimate(*net(step.key), leaves, batch.front(), step.key);
      return SurrogateAscent::Value{.climbed = found.climbed, .shown = found.shown};
    };
  return std::make_unique<SurrogateAscent>(std::move(training.parameters), std::move(training.groups), "log_likelihood",
                                           std::move(climb));
}

std::function<double(const Moments& parameters, const at::Tensor& rows)> watched_bound(
    const RunConfig& config, const BoundOptions& bound, std::shared_ptr<const LatentModel> net,
    std::function<double(const Moments& parameters, const at::Tensor& rows, const Key& key)> one_draw) {
  const Key watched = Key(config.seed).fold_in(run_streams::monitor).fold_in(1);
  return [watched, draws = bound.draws(), net = std::move(net), one_draw = std::move(one_draw)](
             const Moments& parameters, const at::Tensor& rows) {
    const c10::NoGradGuard no_gradients;
    const at::Tensor placed = rows.to(parameters.entries().front().second.device());
    return draws > 1 ? importance_bound(*net, parameters, placed, draws, watched).mean.value
                     : one_draw(parameters, placed, watched);
  };
}

}  // namespace harmonium
