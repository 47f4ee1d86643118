// Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011): real values move along the gradient of a log-density.
//
//   H(v, p) = −log f(v) + ½‖p‖²,  p ~ N(0, I) drawn anew;  L leapfrog steps of ε·U(0.8, 1.2), one length for each chain
//   and trajectory (against closed orbits);  accepted with probability min(1, e^{−ΔH}), in float64.
//
// One call is one trajectory of every row of v: a transition that leaves f as it is and is reversible, so it may stand
// in annealing both ways. With a step that adapts to where chains are it is neither: adapt in training and in pilot
// runs, then hold the step. Cost: L + 1 gradients and two log-densities.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "harmonium/core/key.h"
#include "harmonium/models/free_energy_model.h"

namespace harmonium {

struct HmcTarget {
  std::function<at::Tensor(const at::Tensor& v)> log_f;  // of each row, float64
  std::function<at::Tensor(const at::Tensor& v)> score;  // rows × inputs
};
// Both must outlive it.
[[nodiscard]] HmcTarget hmc_target(const FreeEnergyModel& model, const Moments& theta, double beta = 1);

struct HmcOutcome {
  double accepted = 0;           // share of chains
  std::int64_t divergences = 0;  // chains whose |ΔH| was above 1000 or not finite; they stay where they were
  at::Tensor energy_change;      // ΔH of each chain
};

// The random numbers of one trajectory of every row of v: who draws them in pieces gets rows that do not depend on how
// many others there are.
struct HmcDraws {
  at::Tensor momenta;    // as v
  at::Tensor lengths;    // rows × 1, as v, uniform: of the step
  at::Tensor decisions;  // rows, float64, uniform
};
[[nodiscard]] HmcDraws hmc_draws(const Key& key, std::int64_t rows, std::int64_t width,
                                 const at::TensorOptions& options);

// Moves every row of v (in place) by one trajectory.
HmcOutcome hmc(const HmcTarget& target, at::Tensor& v, double step, std::int64_t leapfrog, const HmcDraws& draws);
HmcOutcome hmc(const HmcTarget& target, at::Tensor& v, double step, std::int64_t leapfrog, const Key& key);

// The path alone: L steps of lengths `steps` (rows × 1) from (v, p), in place. Followed by the same with −p it comes
// back.
void leapfrog_(const HmcTarget& target, at::Tensor& v, at::Tensor& p, const at::Tensor& steps, std::int64_t leapfrog);

// A step that follows the share of accepted chains. As published for mcRBM: 1 % up or down after every trajectory.
struct HmcStep {
  double step = 0.05;
  double acceptance = 0.9;  // running average
  static constexpr double least = 1e-3, most = 0.25;

  void observe(double accepted, double target = 0.9);
};

// A step at which about `target` of the chains accept, found with the given chains (which move): `rounds` trajectories
// in which it is changed less and less.
[[nodiscard]] double find_hmc_step(const HmcTarget& target, at::Tensor& v, double start, std::int64_t leapfrog,
                                   const Key& key, double wanted = 0.8, int rounds = 15);

}  // namespace harmonium
