// Training a sigmoid belief net together with the RBM that is its prior.
//
// The net climbs what it always climbs, with log f of the machine in place of a normalized prior; a negative phase
// takes off −∇log Z (training/objectives/contrasted_part.h). The machine's parameters are moved by a metric, those of
// the net by the optimizer of the configuration. log Z is followed along the training, so that validation rows have a
// number. Where the objective dreams (rws, wake_sleep), dreams begin at the chains of the negative phase.
#pragma once

#include <memory>

#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

struct SbnPriorTraining {
  std::unique_ptr<Objective> objective;
  std::unique_ptr<Optimizer> optimizer;
  LikelihoodHooks::Normalizer normalizer;
};

// `trained`: the parameters of the net, which are moved in place, and those of baselines. The configuration is
// resolved.
[[nodiscard]] SbnPriorTraining train_under_prior(const RunConfig& config, const SigmoidBeliefNet& net,
                                                 const Moments& trained,
                                                 const std::shared_ptr<LatentObjective>& climbed);

}  // namespace harmonium
