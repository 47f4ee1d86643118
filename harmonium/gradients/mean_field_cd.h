// Mean-field contrastive divergence, MF-CD-k: the chains of CD, with every draw replaced by its mean.
//
// No noise at all: the result is a function of the batch. Units that are certain of nothing stay in the middle, so
// models trained so are poor likelihood models; here to be compared with. Cost: 2k + 1 products per row.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class MeanFieldCd final : public NegativePhase {
 public:
  explicit MeanFieldCd(const NegativePhaseOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "mf_cd"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override;
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] bool paired_with_batch() const override { return true; }
  // Means are no draws: what they vary by is not what the model varies by.
  [[nodiscard]] const State& particles() const override { return none_; }
  [[nodiscard]] bool has_particles() const override { return false; }
  void at_fraction(double done) override { fraction_ = done; }

 private:
  NegativePhaseOptions options_;
  double fraction_ = 0;
  State none_;
};

}  // namespace harmonium
