// log Z of a free-energy model by annealing with HMC, up (AIS) and down (reverse AIS from draws of the model, RAISE
// from rows of data).
//
// The path goes over the model's own f_β, from a Gaussian (β = 0) to the model (β = 1); likelihood/annealing.h has the
// formulas of the weights. A transition at β is one HMC trajectory whose step was found by a pilot run and is held, so
// it is reversible for f_β and the bounds of likelihood/ais.h and raise.h apply as they are. All in float64 on the CPU.
//
// Tails heavier than the base's (pot) give weights without a variance: watch pareto_k, and bound from the other side.
#pragma once

#include <vector>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/models/free_energy_model.h"

namespace harmonium {

// f_β of a model with steps for every β.
class FreeEnergyPath {
 public:
  static constexpr std::int64_t leapfrog = 5;

  // Finds the steps with 100 chains that walk up in 20 places. Parameters are copied.
  FreeEnergyPath(const FreeEnergyModel& model, const Moments& theta, std::uint64_t seed);

  [[nodiscard]] const FreeEnergyModel& model() const { return model_; }
  [[nodiscard]] const Moments& parameters() const { return theta_; }
  // Between those of the nearest places.
  [[nodiscard]] double step(double beta) const;
  [[nodiscard]] at::Tensor draw_base(const Key& key, std::int64_t rows) const {
    return model_.base_draws(theta_, key, rows);
  }
  [[nodiscard]] double base_log_z() const { return model_.base_log_z(theta_); }
  // One HMC trajectory at β.
  void move(at::Tensor& v, double beta, const Key& key) const;

 private:
  const FreeEnergyModel& model_;
  Moments theta_;  // float64
  std::vector<double> steps_;
};

// `betas` steps, evenly spaced.
[[nodiscard]] AisResult ais(const FreeEnergyPath& path, std::int64_t chains, std::int64_t betas,
                            const AnnealingOptions& options);
// `samples`: a draw of the model in every row.
[[nodiscard]] AisResult reverse_ais(const FreeEnergyPath& path, const at::Tensor& samples, std::int64_t betas,
                                    const AnnealingOptions& options);
// `rows` of data, `chains` for each.
[[nodiscard]] RaiseResult raise(const FreeEnergyPath& path, const at::Tensor& rows, std::int64_t chains,
                                std::int64_t betas, const AnnealingOptions& options);

}  // namespace harmonium
