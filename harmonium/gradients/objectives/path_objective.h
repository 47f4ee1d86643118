// Bounds of nets with real latents, and estimates of their gradients by the path h = g(ε; φ) through every draw
// (latent_objective.h has the notation, elbo.h the one-draw bound with the KL in closed form).
//
//   path:K        ∇L_1 by the derivative of (1/K) Σ log w^k as it stands
//   stick:K       ∇L_1 without what φ does to log q(h; φ) at a held draw, a term of mean zero: the noise of the φ part
//                 vanishes where q is the posterior (Roeder, Wu & Duvenaud 2017)
//   plain_iwae:K  ∇L_K by the derivative of log p̂ as it stands; its signal-to-noise for φ falls as 1/√K (Rainforth et
//                 al. 2018)
//   iwae:K        ∇L_K, θ: Σ ⟂w̃^k ∇log p(x, ⟂h^k), φ: Σ (⟂w̃^k)² ∂[log p(x, h^k; ⟂θ) − log q(h^k; ⟂φ)]/∂h^k · ∂h^k/∂φ,
//                 doubly reparametrized: signal-to-noise grows with K (Tucker, Lawson, Gu & Maddison 2019)
//
// All are unbiased. Cost: K draws, and with stick and iwae two passes for each in place of one.
#pragma once

#include <string>
#include <vector>

#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

struct PathObjectiveType {
  std::string name, form, help;
  std::int64_t usual = 1;  // draws
  bool many = false;       // climbs L_K, not L_1
  bool stops = false;      // leaves out what φ does to log q at a held draw
};
[[nodiscard]] const std::vector<PathObjectiveType>& path_objectives();

class PathObjective {
 public:
  struct Surrogate {
    at::Tensor climbed, shown;  // means over rows, float64; the second has no gradient
  };
  // "iwae:5", or "iwae" for the usual number of draws.
  explicit PathObjective(const std::string& spec);

  [[nodiscard]] std::string spec() const;
  [[nodiscard]] std::int64_t draws() const { return draws_; }
  [[nodiscard]] Surrogate estimate(const LatentModel& model, const Moments& leaves, const at::Tensor& rows,
                                   const Key& key) const;

 private:
  PathObjectiveType type_;
  std::int64_t draws_ = 1;
};

}  // namespace harmonium
