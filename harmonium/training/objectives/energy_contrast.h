// The likelihood of a free-energy model (models/free_energy_model.h), by rows of data and by chains that move by HMC:
//
//   gradient = E_data[∂ log f/∂θ] − E_chains[∂ log f/∂θ]
//
// Chains are persistent: one trajectory in an update, under the parameters of that update. Their step follows the share
// that is accepted (samplers/hmc.h, HmcStep); chains, step and acceptance are part of the state, so a restored training
// goes on bit by bit. The gradient is biased by as much as chains lag behind the model, as with pcd. With `gibbs` they
// make an exact Gibbs sweep instead, where the model has one.
//
// Fast weights (gradients/fpcd.h): chains move under θ + θ_fast, θ_fast ← λ θ_fast + ε_fast · gradient, and the
// negative moments are those of θ + θ_fast, kept in the model's domain.
//
// Measured: log_f_gap (mean log f of the batch less that of the chains: near 0 where the model fits), with HMC
// hmc_acceptance, hmc_step and hmc_divergences (chains, since the last line), chain_scale (mean ‖v‖² of chains over
// that of the data: far above 1 where chains run away).
#pragma once

#include <memory>

#include "harmonium/models/free_energy_model.h"
#include "harmonium/samplers/hmc.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

struct EnergyContrastOptions {
  std::int64_t particles = 100;
  std::int64_t leapfrog = 10;
  double acceptance = 0.9;  // share of chains to accept
  bool gibbs = false;       // exact Gibbs sweeps in place of HMC
  double fast_rate = 0;     // ε_fast; 0: no fast weights
  double fast_decay = 0.95;
};

class EnergyContrast final : public Objective {
 public:
  // The tensors of `theta` are shared: they are what is trained. Chains start at draws of the path's base.
  EnergyContrast(std::shared_ptr<const FreeEnergyModel> model, Moments theta, const EnergyContrastOptions& options,
                 const Key& key);

  [[nodiscard]] const at::Tensor& chains() const { return chains_; }
  [[nodiscard]] Moments& parameters() override { return theta_; }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return model_->groups(); }
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  void after_step() override { model_->constrain_(theta_); }
  [[nodiscard]] std::map<std::string, double> take_measurements() override;
  [[nodiscard]] std::string advice() const override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& saved) override;

 private:
  // Moves the chains under θ. Outcome: share accepted and divergences.
  [[nodiscard]] HmcOutcome move(const Moments& theta, const Key& key);

  std::shared_ptr<const FreeEnergyModel> model_;
  Moments theta_;
  EnergyContrastOptions options_;
  at::Tensor chains_;  // particles × inputs
  Moments overlay_;    // θ_fast; empty where there are no fast weights
  HmcStep step_;
  // Sums since the last line of metrics: updates, log f gap, share accepted, divergences, ‖v‖² of chains, of data.
  at::Tensor sums_;
};

}  // namespace harmonium
