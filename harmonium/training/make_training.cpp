#include "harmonium/training/make_training.h"

#include "harmonium/core/error.h"
#include "harmonium/training/objectives/contrastive.h"
#include "harmonium/training/objectives/criterion.h"
#include "harmonium/training/objectives/wake_sleep.h"

namespace harmonium {

Training make_training(BoltzmannMachine machine, BatchStream batches, std::unique_ptr<NegativePhase> phase,
                       std::unique_ptr<Metric> metric, const StepOptions& step, const TrainingOptions& options,
                       const SparsityOptions& sparsity, const DataInference& inference, Coordinates coordinates) {
  return {std::make_unique<Contrastive>(std::move(machine), std::move(phase), sparsity, inference, coordinates),
          std::move(metric), std::move(batches), step, options};
}

const BoltzmannMachine& machine_of(const Training& training) { return training.objective_as<Contrastive>().machine(); }

BoltzmannMachine averaged_machine(const Training& training) {
  return machine_of(training).with_parameters(training.averaged());
}

const State& chains_of(const Training& training) { return training.objective_as<Contrastive>().particles(); }

Training make_training(const FeedForward& net, BatchStream batches, const NetObjective& objective,
                       const std::string& optimizer, const StepOptions& step, const TrainingOptions& options) {
  require_fitting(net, objective.loss);
  require(batches.data().columns() == net.inputs(), "{} has {} columns, the net takes {}", batches.data().name,
          batches.data().columns(), net.inputs());
  for (const auto& [what, share] : {std::pair{"inputs", objective.dropout.inputs}, {"units", objective.dropout.hidden}})
    require(share >= 0 && share < 1, "the share of {} to drop must be at least 0 and below 1, not {}", what, share);
  require(objective.adversarial >= 0, "the step of adversarial examples must not be negative, and is {}",
          objective.adversarial);
  auto criterion = std::make_unique<Criterion>(
      net.parameters(), net.groups(),
      [net, objective](const Moments& leaves, const std::vector<at::Tensor>& batch, const Key& key) {
        const FeedForward there = net.with_parameters(leaves);
        if (objective.adversarial > 0)
          return adversarial_loss(there, batch.front(), batch.back(), objective.loss, objective.dropout,
                                  objective.adversarial, key);
        return mean_loss(there, batch.front(), batch.back(), objective.loss, objective.dropout, key);
      });
  return {std::move(criterion), make_optimizer(optimizer, net.groups(), net.parameters()), std::move(batches), step,
          options};
}

Training make_training(const BeliefNet& net, BatchStream batches, std::unique_ptr<NegativePhase> top_phase,
                       const std::string& optimizer, const StepOptions& step, const TrainingOptions& options) {
  auto objective = std::make_unique<WakeSleep>(net, std::move(top_phase));
  auto rule = make_optimizer(optimizer, objective->groups(), objective->parameters());
  return {std::move(objective), std::move(rule), std::move(batches), step, options};
}

const BeliefNet& belief_net_of(const Training& training) { return training.objective_as<WakeSleep>().net(); }

BeliefNet averaged_belief_net(const Training& training) {
  return with_parameters(belief_net_of(training), training.averaged());
}

}  // namespace harmonium
