// Parallel tempering as a negative phase (Desjardins et al. 2010; Cho, Raiko & Ilin 2010): persistent chains on every
// rung of a ladder between the base rates and the model; those at β = 1 give the moments.
//
// Asymptotically unbiased as the learning rate falls, like PCD, but the chains do not stay in the mode they are in. The
// rungs lie at equal distances. Cost: `rungs` times that of PCD.
#pragma once

#include "harmonium/gradients/base_rates.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/samplers/parallel_tempering.h"

namespace harmonium {

class PtGradient final : public NegativePhase {
 public:
  explicit PtGradient(const NegativePhaseOptions& options);
  [[nodiscard]] std::string name() const override { return "pt"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override {
    const std::string lengths = complaint_about_lengths(machine);
    return lengths.empty() ? complaint_about_imitations(machine) : lengths;
  }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] const State& particles() const override { return particles_; }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;
  // Acceptance of exchanges and round trips since the last call.
  [[nodiscard]] TemperingStatistics take_statistics() { return chains_.take_statistics(); }

 private:
  NegativePhaseOptions options_;
  BaseRates base_;
  ParallelTempering chains_;
  State particles_;
};

}  // namespace harmonium
