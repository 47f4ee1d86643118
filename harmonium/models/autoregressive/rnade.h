// The real-valued neural autoregressive density estimator (RNADE; Uria, Murray & Larochelle 2013): a density of real
// rows, one value after the other in an order, each from a mixture of Gaussians or Laplace distributions.
//
//   log p(x) = Σ_k log p(z_{o(k)} | z_{o(0)} … z_{o(k−1)}) − Σ_i log s_i,   z_i = (x_i − m_i)/s_i,
//   a_i = c + Σ_{j before i} z_j W_j,   h_i = max(0, ρ_i a_i),   raw_i = b_i + h_i V_i,   z_i ~ mixture(raw_i)
//
// N inputs, H hidden units, C components (distributions/mixture.h). W is N × H, V is N × H × 3C; inputs share W, so all
// conditionals cost O(N·H·C) a row. ρ_i keeps the size of hidden units alike while their inputs become more. m and s
// are fixed numbers that say in which units the net sees the data: 0 and 1, or mean and deviation of training columns.
// log p is always in the units of the data; in standardized ones it is more by Σ log s_i (log_volume()).
//
// With K orders the model is the mixture p(x) = (1/K) Σ_k p_k(x) of K such nets, each with an order and parameters of
// its own; log p is then no less, in the mean over rows, than the mean of log p_k. Every net learns as if it were
// alone.
//
// Parameters are "encoder.weights" W, "hidden.bias" c, "hidden.scale" ρ, "decoder.weights" V and "output.bias" b in one
// Moments, each with K in front, by column of the data and never by place in the order. Training memory: rows·K·N·H.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "harmonium/distributions/distribution.h"
#include "harmonium/models/autoregressive/masked_net.h"

namespace harmonium {

struct RnadeStructure {
  std::int64_t inputs = 1, hidden = 50, components = 10;
  std::string kernel = "gaussian";  // or laplace
  std::int64_t orders = 1;
  std::string order = "raster";                     // of the first net; or "random:SEED", from which all others follow
  std::vector<double> means = {}, deviations = {};  // m and s; empty: 0 and 1
};

// What keeps a net from learning few rows by heart; each may be undefined.
struct RnadeNoise {
  at::Tensor inputs;  // rows × N: added to the standardized values that conditionals look at, not to those they predict
  at::Tensor hidden;  // K × 1 × rows × H: factors of hidden units, 0 where a unit is dropped
};

class Rnade {
 public:
  // Parameters are zero, ρ one.
  explicit Rnade(RnadeStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const RnadeStructure& structure() const { return structure_; }
  // Of standardized values.
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  [[nodiscard]] std::vector<std::int64_t> order(std::int64_t number) const;
  [[nodiscard]] double log_volume() const { return log_volume_; }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same net under other parameters (shared, not copied).
  [[nodiscard]] Rnade with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] Rnade to(const at::TensorOptions& options) const;

  // Rows are in the units of the data, of any type and anywhere.

  // log p_k(x) of every net, K × rows, float64. Differentiable in the parameters.
  [[nodiscard]] at::Tensor log_prob(const Moments& parameters, const at::Tensor& rows,
                                    const RnadeNoise& noise = {}) const;
  // The noise of one update, from a key.
  [[nodiscard]] RnadeNoise draw_noise(const Key& key, std::int64_t rows, double input_noise, double dropout) const;
  // What net `number` puts out for standardized values, rows × raw columns of visible().
  [[nodiscard]] at::Tensor raw(const at::Tensor& standardized, std::int64_t number) const;
  // log p(x) of the mixture of orders under its own parameters: exact, float64.
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const;

  // Independent draws, each by one of the nets.
  [[nodiscard]] OrderedDraw sample(const Key& key, std::int64_t count) const;
  // Draws values from their exact distribution given the known ones, which must come before all others in the order:
  // else, or with several orders, it fails. `known`: rows × N, NaN where a value is free.
  [[nodiscard]] OrderedDraw complete(const Key& key, const at::Tensor& known) const;

 private:
  [[nodiscard]] at::TensorOptions options() const;
  [[nodiscard]] at::Tensor standardized(const at::Tensor& rows) const;
  [[nodiscard]] at::Tensor in_units_of_data(const at::Tensor& standardized) const;
  // Raw of all nets for rows of what they look at, K × N (by place) × rows × 3C.
  [[nodiscard]] at::Tensor ordered_raw(const Moments& parameters, const at::Tensor& standardized,
                                       const at::Tensor& hidden_factors = {}) const;
  // Values z in the order of every net, K × N × rows × 1.
  [[nodiscard]] at::Tensor to_orders(const at::Tensor& standardized) const;
  // Draws what is NaN in `known` (standardized), place after place of net `number`.
  [[nodiscard]] OrderedDraw walk(const Key& key, const at::Tensor& known, std::int64_t number) const;

  RnadeStructure structure_;
  std::shared_ptr<const Distribution> visible_, one_;
  at::Tensor orders_, columns_;    // K·N: column of each place; the same as rows of parameters, K·N × …
  at::Tensor means_, deviations_;  // N, float64
  double log_volume_ = 0;
  Moments parameters_;
};

// Weights uniform in ±√(6/(inputs + outputs)), decoder weights a tenth of that, ρ_i = 1/√(1 + number of values before
// i), biases zero but for the outputs': components spread over columns of these means and deviations (N, in the units
// of the data).
void initialize(Rnade& net, const Key& key, const at::Tensor& means, const at::Tensor& deviations);

// Empty where real columns suit a density: else names columns of few different values, on which a density has no end,
// or a pair that is nearly the same (|correlation| above 0.98). At most 5000 rows are looked at.
[[nodiscard]] std::string complaint_about_columns(const at::Tensor& rows);

}  // namespace harmonium
