// The straight line of natural parameters from a base without weights (β = 0) to a target machine (β = 1).
//
//   θ_β = (1 − β) θ_base + β θ_target,   f_β(x) = Σ_summed e^{−E_β},
//
// x being the layers that are kept (of an RBM: the visible layer; of a Markov random field: all) and one block, if any,
// summed out in closed form (models/walked_layers.h). Layers of x with an edge inside are redrawn unit by unit. What
// parallel tempering and tempered transitions walk on. Since the base has no weights, the neighbours' share of a field
// at β is β times that of the target: one product with the weights gives log f at every β.
#pragma once

#include <vector>

#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/walked_layers.h"

namespace harmonium {

class TemperedLine {
 public:
  // `base`: parameters of the same shape as the target's, all weights zero.
  TemperedLine(BoltzmannMachine target, const Moments& base);

  [[nodiscard]] const BoltzmannMachine& target() const { return target_; }
  [[nodiscard]] const LayerSet& kept() const { return walked_.kept; }
  [[nodiscard]] const LayerSet& summed() const { return walked_.summed; }
  // The machine at β, with its own parameters.
  [[nodiscard]] BoltzmannMachine at(double beta) const;

  // What the kept layers of x send to the summed ones under the target's weights.
  [[nodiscard]] Fields inputs(const State& x) const;
  // log f_β of every row (float64), given inputs(x).
  [[nodiscard]] at::Tensor log_f(const State& x, const Fields& inputs, double beta) const;
  // A Gibbs sweep under β: summed layers given x, then kept layers given those. Reversible for f_β. Summed layers of x
  // are left as drawn on the way and are not a draw given the new x.
  void sweep(State& x, const Fields& inputs, double beta, const Key& key) const;
  // Kept layers of independent draws from the base.
  [[nodiscard]] State draw_base(const Key& key, std::int64_t rows) const;

 private:
  [[nodiscard]] Unit::Parameters parameters(std::size_t layer, double beta) const;

  BoltzmannMachine target_, base_;
  WalkedLayers walked_;
};

// Every state alike: no weights, no biases (continuous units: standard normal).
[[nodiscard]] Moments uniform_parameters(const BoltzmannMachine& machine);

// Inverse temperatures from 0 to 1 at equal distances; `rungs` counts both ends.
[[nodiscard]] std::vector<double> linear_ladder(std::int64_t rungs);
// Fails unless the ladder begins at 0, ends at 1 and rises at every step.
void check_ladder(const std::vector<double>& ladder);

}  // namespace harmonium
