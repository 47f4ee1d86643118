// The usual combinations of objective, optimizer and step rule, one for each kind of model.
//
// All train the tensors of the model they are given, in place, but for belief nets, which are untied and so copied.
#pragma once

#include <memory>
#include <string>

#include "harmonium/geometry/metric.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/models/belief_net.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/feed_forward.h"
#include "harmonium/training/net_loss.h"
#include "harmonium/training/objectives/contrastive.h"
#include "harmonium/training/sparsity.h"
#include "harmonium/training/training.h"

namespace harmonium {

// A Boltzmann machine by data and model moments (Contrastive).
[[nodiscard]] Training make_training(BoltzmannMachine machine, BatchStream batches,
                                     std::unique_ptr<NegativePhase> phase, std::unique_ptr<Metric> metric,
                                     const StepOptions& step, const TrainingOptions& options,
                                     const SparsityOptions& sparsity = {}, const DataInference& inference = {},
                                     Coordinates coordinates = Coordinates::natural);
// That machine, the same with averaged parameters, and its chains (Contrastive::particles). Parameters are shared with
// the training: they move on with the next step.
[[nodiscard]] const BoltzmannMachine& machine_of(const Training& training);
[[nodiscard]] BoltzmannMachine averaged_machine(const Training& training);
[[nodiscard]] const State& chains_of(const Training& training);

struct NetObjective {
  Loss loss = Loss::cross_entropy;
  Dropout dropout = {};
  double adversarial = 0;  // step of adversarial_loss(); 0: the plain loss
};
// A feed-forward net by a loss (Criterion). Targets are the labels of batches where those carry any, else the inputs
// themselves. The optimizer is adam or sgd.
[[nodiscard]] Training make_training(const FeedForward& net, BatchStream batches, const NetObjective& objective,
                                     const std::string& optimizer, const StepOptions& step,
                                     const TrainingOptions& options);

// A belief net by up–down (WakeSleep). The optimizer is adam or sgd.
[[nodiscard]] Training make_training(const BeliefNet& net, BatchStream batches,
                                     std::unique_ptr<NegativePhase> top_phase, const std::string& optimizer,
                                     const StepOptions& step, const TrainingOptions& options);
// That net, and the same with averaged parameters.
[[nodiscard]] const BeliefNet& belief_net_of(const Training& training);
[[nodiscard]] BeliefNet averaged_belief_net(const Training& training);

}  // namespace harmonium
