// Persistent contrastive divergence (Younes 1989; Tieleman 2008): M chains kept from update to update, k sweeps each.
//
// Asymptotically unbiased as the learning rate falls. The block drawn last enters by its expectation. Cost: 2k products
// per particle. With mean-field steps (mean_steps.h) all layers enter by means that so many steps lead to from where
// the chains are, which is biased; the chains themselves go on as draws.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class Pcd final : public NegativePhase {
 public:
  explicit Pcd(const NegativePhaseOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "pcd"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override;
  [[nodiscard]] bool takes_chains() const override { return true; }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  void subtract_model_moments(Moments& gradient, const BoltzmannMachine& machine, const State& data,
                              const Key& key) override;
  [[nodiscard]] const State& particles() const override { return particles_; }
  // For those who walk the chains themselves: the chains, drawn if there are none yet, and where they have got to.
  [[nodiscard]] const State& begun(const BoltzmannMachine& machine, const Key& key);
  void set_particles(State particles) { particles_ = std::move(particles); }
  [[nodiscard]] std::int64_t sweeps() const { return options_.sweeps_at(fraction_); }
  [[nodiscard]] bool ends_in_means() const { return options_.mean_field_steps > 0; }
  void at_fraction(double done) override { fraction_ = done; }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  void begin(const BoltzmannMachine& machine, const Key& key);

  NegativePhaseOptions options_;
  double fraction_ = 0;
  State particles_;  // empty until the first update
};

}  // namespace harmonium
