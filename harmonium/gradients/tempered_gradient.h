// Tempered transitions as a negative phase (Salakhutdinov 2009): persistent chains that make Gibbs sweeps and one
// excursion to the base rates and back at every update.
//
// Asymptotically unbiased as the learning rate falls, like PCD. An excursion that is refused leaves the sweeps' result,
// so the chains are never worse than PCD's. Cost: 4 (rungs − 1) products with the weights per particle besides the
// sweeps; the ladder has to be finer than that of parallel tempering.
#pragma once

#include "harmonium/gradients/base_rates.h"
#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class TemperedGradient final : public NegativePhase {
 public:
  explicit TemperedGradient(const NegativePhaseOptions& options);
  [[nodiscard]] std::string name() const override { return "tempered"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override {
    const std::string lengths = complaint_about_lengths(machine);
    return lengths.empty() ? complaint_about_imitations(machine) : lengths;
  }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] const State& particles() const override { return particles_; }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;
  // Mean probability that the last update's excursions were accepted.
  [[nodiscard]] double acceptance() const { return acceptance_; }

 private:
  NegativePhaseOptions options_;
  std::vector<double> ladder_;
  BaseRates base_;
  State particles_;  // empty until the first update
  double acceptance_ = 0;
};

}  // namespace harmonium
