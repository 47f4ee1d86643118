// A restricted Boltzmann machine as the prior of a directed net's uppermost latents h, with binary hidden units g
// summed out:
//
//   p(h) = f(h) / Z,   log f(h) = b·h + Σ_j log(1 + e^{c_j + h·W_j}).
//
// log Z is a number that nobody knows while the net is trained. It is the same for all latents, so it cancels in
// self-normalized weights and in differences of log-weights; a gradient needs −∇log Z = −E_model[statistics], which is
// the business of a negative phase (training/objectives/contrasted_part.h). Draws are exact where one side of the
// machine can be enumerated; else they end Gibbs chains and are approximate.
//
// Among a net's parameters those of the machine stand as "prior.visible.bias", "prior.hidden.bias" and
// "prior.visible_hidden.weights".
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class RbmPrior {
 public:
  RbmPrior(std::int64_t latents, std::int64_t hidden, at::ScalarType type);

  [[nodiscard]] static const char* prefix() { return "prior."; }
  // Zeros.
  void declare(Moments& parameters) const;
  // The machine under a net's parameters, which are shared. What is enumerated, annealed and walked.
  [[nodiscard]] BoltzmannMachine machine(const Moments& parameters) const;
  // log f(h), … × latents → …, float64; differentiable in the parameters and in h.
  [[nodiscard]] at::Tensor log_f(const Moments& parameters, const at::Tensor& latents) const;

  // Whether draw() is exact: one side has at most 2^16 states.
  [[nodiscard]] bool draws_exactly() const;
  static constexpr std::int64_t usual_sweeps = 1000;
  // count × latents. Where draws are not exact: chains that begin at the biases, after so many sweeps.
  [[nodiscard]] at::Tensor draw(const Moments& parameters, std::int64_t count, const Key& key,
                                std::int64_t sweeps = usual_sweeps) const;

 private:
  BoltzmannMachine machine_;  // lends its layers; its own parameters are zero
};

}  // namespace harmonium
