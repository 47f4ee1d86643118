// Models of real values by an unnormalized log-density log f(v; θ) = −F(v; θ), with hidden units summed out.
//
//   p(v) = f(v) / Z,   ∂ log p(v) / ∂θ = ∂ log f(v) / ∂θ − E_model[∂ log f / ∂θ]
//
// For models whose visible units depend on each other given the hidden ones, so that block Gibbs does not serve:
// samplers/hmc.h moves v by the gradient in v, training/objectives/energy_contrast.h climbs the gradient in θ, and
// likelihood/free_energy_annealing.h walks from β = 0, a normalized Gaussian, to β = 1, the model.
//
// A model here knows its shape and no numbers: parameters θ are handed in, so that those of training, their average and
// their float64 copy go the same way. v is rows × inputs, in the type of θ.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/core/parameter_group.h"

namespace harmonium {

class FreeEnergyModel {
 public:
  virtual ~FreeEnergyModel() = default;

  [[nodiscard]] virtual std::int64_t inputs() const = 0;
  // Before training.
  [[nodiscard]] virtual Moments initial_parameters(const Key& key, at::ScalarType type = at::kFloat) const = 0;
  [[nodiscard]] virtual std::vector<ParameterGroup> groups() const = 0;

  // log f of each row at the place β of the annealing path, float64.
  [[nodiscard]] virtual at::Tensor log_f(const at::Tensor& v, const Moments& theta, double beta = 1) const = 0;
  // Its gradient in v, rows × inputs.
  [[nodiscard]] virtual at::Tensor score(const at::Tensor& v, const Moments& theta, double beta = 1) const = 0;
  // Its gradient in θ at β = 1, the average over rows.
  [[nodiscard]] virtual Moments moments(const at::Tensor& v, const Moments& theta) const = 0;
  // Exact Gibbs sampling, where there is a way: hidden units given every row of v, then v given them (in place), under
  // f_β. Reversible, as any two-block sweep is.
  [[nodiscard]] virtual bool has_gibbs() const { return false; }
  virtual void gibbs_(at::Tensor& v, const Moments& theta, const Key& key, double beta = 1) const;
  // Puts parameters that a step has carried out of their domain back to its edge.
  virtual void constrain_(Moments& theta) const = 0;
  // Empty where Z is finite, else what is wrong with the parameters.
  [[nodiscard]] virtual std::string complaint(const Moments& theta) const = 0;
  // The precision of the values, inputs × inputs, given hidden units at the means that one row has; undefined where
  // they are not Gaussian given hidden units.
  [[nodiscard]] virtual at::Tensor precision_given(const at::Tensor&, const Moments&) const { return {}; }
  // Numbers about the parameters for a line of metrics.
  [[nodiscard]] virtual std::map<std::string, double> measures(const Moments&) const { return {}; }
  // E[h | v] of each group of hidden units, by name.
  [[nodiscard]] virtual std::vector<std::pair<std::string, at::Tensor>> features(const at::Tensor& v,
                                                                                 const Moments& theta) const = 0;

  // f at β = 0 is a Gaussian up to a factor: its log Z and draws of it.
  [[nodiscard]] virtual double base_log_z(const Moments& theta) const = 0;
  [[nodiscard]] virtual at::Tensor base_draws(const Moments& theta, const Key& key, std::int64_t rows) const = 0;

  // Multiplications that the exact log Z takes; nothing where it is not known.
  [[nodiscard]] virtual std::optional<double> exact_work() const { return std::nullopt; }
  // "exact (2^13 hidden states)".
  [[nodiscard]] virtual std::string exact_method() const { return {}; }
  [[nodiscard]] virtual double exact_log_z(const Moments& theta) const;
  // Independent draws of the model; undefined where there is no exact way.
  [[nodiscard]] virtual bool has_exact_draws() const { return false; }
  [[nodiscard]] virtual at::Tensor exact_draws(const Moments&, const Key&, std::int64_t) const { return {}; }
};

}  // namespace harmonium
