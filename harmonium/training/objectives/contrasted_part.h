// An objective in which a Boltzmann machine is a part of the model: the prior of a directed net.
//
// Log-probabilities enter the whole objective by log f of the machine, without its log Z. So the whole's gradient for
// the machine's parameters is E[statistics] under the data, and what is missing is −∇log Z:
//
//   gradient = the whole's gradient − E_model[statistics]   (the machine's entries; others are left as they are)
//
// by any negative phase. That is right wherever the whole counts log p once, as a mean over rows of weights that add up
// to one. Optimizers are shown the moments and the chains of the machine, as in Contrastive.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harmonium/gradients/negative_phase.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

class ContrastedPart final : public Objective {
 public:
  // Rows of the machine's observed layer, as the whole's last batch has drawn them; asked after each of its gradients.
  // What a phase starts at that is paired with the batch (cd, pl).
  using Rows = std::function<at::Tensor()>;

  // The machine's tensors are those of the whole's entries `prefix` + name. The phase may be looked at meanwhile.
  ContrastedPart(std::unique_ptr<Objective> whole, BoltzmannMachine machine, std::string prefix,
                 std::shared_ptr<NegativePhase> phase, Rows rows);

  [[nodiscard]] Moments& parameters() override { return whole_->parameters(); }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return whole_->groups(); }
  void begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step) override;
  void learn_from(const BatchStream& batches) override { whole_->learn_from(batches); }
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  void after_step() override;
  [[nodiscard]] std::map<std::string, double> take_measurements() override { return whole_->take_measurements(); }
  [[nodiscard]] std::string advice() const override { return whole_->advice(); }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& saved) override;

 private:
  std::unique_ptr<Objective> whole_;
  BoltzmannMachine machine_;
  std::string prefix_;
  std::shared_ptr<NegativePhase> phase_;
  Rows rows_;
};

}  // namespace harmonium
