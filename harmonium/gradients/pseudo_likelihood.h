// The gradient of the pseudo-likelihood (Besag 1975), Σ_i log p(v_i | all other observed units), with no chains.
//
// A part i of the data (a binary unit, a softmax group) takes the values s; v^{i:=s} is the row with that one changed.
//   log p(v_i | rest) = log f(v) − log Σ_s f(v^{i:=s}),   f = Σ_hidden e^{−E}
//   gradient = Σ_i [ g(v) − Σ_s p_s g(v^{i:=s}) ],   g = the statistics with the hidden layers by their expectation
// With an edge inside an observed layer its pairs join in; without hidden units all of it has closed form. "Model
// moments" here are g(v) minus the gradient. Exact and without noise; what it maximizes is not the likelihood. Cost
// per row: (observed units) × (hidden units) evaluations of the hidden units, no products beyond the first.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class PseudoLikelihood final : public NegativePhase {
 public:
  [[nodiscard]] std::string name() const override { return "pl"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override;
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] bool paired_with_batch() const override { return true; }
  [[nodiscard]] const State& particles() const override { return none_; }
  [[nodiscard]] bool has_particles() const override { return false; }

 private:
  State none_;
};

// Mean over rows of Σ_i log p(v_i | rest), and its gradient.
struct PseudoLikelihoodValue {
  double value = 0;
  Moments gradient;
};
[[nodiscard]] PseudoLikelihoodValue pseudo_likelihood(const BoltzmannMachine& machine, const State& data);

}  // namespace harmonium
