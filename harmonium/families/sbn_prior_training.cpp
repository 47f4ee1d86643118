#include "harmonium/families/sbn_prior_training.h"

#include "harmonium/core/error.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/sbn_options.h"
#include "harmonium/geometry/optimizer_by_parts.h"
#include "harmonium/kernels/random.h"
#include "harmonium/training/objectives/contrasted_part.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

enum : std::uint64_t { chosen_stream = 0x70B5, dream_stream = 0xD3EA };  // of an update's key

// Whether the phase has chains of its own, which go on from update to update.
bool keeps_chains(const NegativePhase& phase) { return phase.has_particles() && !phase.paired_with_batch(); }

// At most `count` states of the uppermost latents in the chains; undefined where there are none, or none yet.
at::Tensor tops_of_chains(const NegativePhase& phase, std::int64_t count, const Key& key) {
  if (!keeps_chains(phase) || phase.particles().layers.empty()) return {};
  const at::Tensor all = phase.particles().layers.front();
  if (all.size(0) <= count) return all;
  return all.index_select(0, permutation(key, all.size(0), all.device()).narrow(0, 0, count));
}

std::unique_ptr<Objective> contrasted(const SigmoidBeliefNet& net, const Moments& trained,
                                      const std::shared_ptr<LatentObjective>& climbed,
                                      const std::shared_ptr<NegativePhase>& phase) {
  const auto chosen = std::make_shared<at::Tensor>();  // of the last batch
  auto whole = std::make_unique<SurrogateAscent>(
      trained, groups_by_name(trained), "unnormalized_log_likelihood",
      [net, climbed, phase, chosen](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        const at::Tensor& rows = batch.front();
        const at::Tensor tops =
            climbed->dreams() ? tops_of_chains(*phase, rows.size(0), step.key.fold_in(dream_stream)) : at::Tensor();
        Trace seen;
        const LatentObjective::Surrogate found = climbed->estimate(net, leaves, rows, step.key, tops, &seen);
        *chosen = climbed->chosen_tops(seen, step.key.fold_in(chosen_stream));
        return SurrogateAscent::Value{.climbed = found.climbed, .shown = found.shown};
      },
      SurrogateAscent::Kept{.state = [climbed] { return climbed->state(); },
                            .restore = [climbed](const NamedTensors& saved) { climbed->restore(saved); }});
  return std::make_unique<ContrastedPart>(std::move(whole), net.rbm_prior()->machine(trained), RbmPrior::prefix(),
                                          phase, [chosen] { return *chosen; });
}

std::unique_ptr<Optimizer> optimizer_by_parts(const RunConfig& config, const BoltzmannMachine& machine,
                                              const Moments& trained) {
  const auto& own = config.own.as<SbnOptions>();
  Moments others;
  for (const auto& [name, value] : trained.entries())
    if (!name.starts_with(RbmPrior::prefix())) others.insert(name, value);
  const Rates usual = find_metric(own.prior_metric).rates;
  const double bias_rate = own.prior_rate * usual.bias / usual.weights;
  std::vector<OptimizerByParts::Part> parts;
  parts.push_back(
      {.prefix = RbmPrior::prefix(),
       .optimizer = make_metric(own.prior_metric, machine.topology(), machine.parameters(), metric_options(config)),
       .unary_rate = bias_rate / config.rate_bias,
       .pairwise_rate = own.prior_rate / config.rate_weights});
  parts.push_back({.prefix = "", .optimizer = make_optimizer(config.optimizer, groups_by_name(others), others)});
  return std::make_unique<OptimizerByParts>(std::move(parts));
}

FollowedLogZ follower(const RunConfig& config, const SigmoidBeliefNet& net) {
  constexpr double steps_per_update = 1;  // of a hundred chains: a small part of an update, which is the net's
  const BoltzmannMachine start = net.rbm_prior()->machine(net.parameters().clone());
  // Weights are small at first, so that units are as their biases say.
  const ObservedMoments means = {{start.parameters()["visible.bias"].sigmoid()}};
  return {start,
          means,
          {.steps_per_update = steps_per_update},
          Key(config.seed).fold_in(run_streams::monitor).fold_in(0x10F2)};
}

}  // namespace

SbnPriorTraining train_under_prior(const RunConfig& config, const SigmoidBeliefNet& net, const Moments& trained,
                                   const std::shared_ptr<LatentObjective>& climbed) {
  const auto& own = config.own.as<SbnOptions>();
  const std::shared_ptr<NegativePhase> phase =
      make_negative_phase(own.prior_gradient, {.sweeps = own.prior_sweeps, .particles = own.prior_particles});
  require(
      !climbed->dreams() || keeps_chains(*phase) || net.dreams_exactly(),
      "@objective {} learns from dreams, which begin at draws of the prior, and @prior_gradient {} keeps no chains of "
      "it; use pcd, fpcd, pt or tempered",
      own.objective, own.prior_gradient);
  const BoltzmannMachine machine = net.rbm_prior()->machine(trained);
  return {.objective = contrasted(net, trained, climbed, phase),
          .optimizer = optimizer_by_parts(config, machine, trained),
          .normalizer = {.machine = [net](const Moments& parameters) { return net.rbm_prior()->machine(parameters); },
                         .log_z = follower(config, net)}};
}

}  // namespace harmonium
