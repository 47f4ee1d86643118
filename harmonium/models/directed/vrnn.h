// A variational recurrent net (Chung, Kastner, Dinh, Goel, Courville & Bengio 2015): sequences x_1 … x_T of frames with
// latent variables z_1 … z_T and a deterministic state that remembers both:
//
//   r_0 learned;   p(z_t | r_{t−1}) = N(μ, diag σ²),   p(x_t | z_t, r_{t−1}) the visible distribution,
//   q(z_t | x_t, r_{t−1}) = N(μ', diag σ'²),           r_t = GRU(r_{t−1}, [x_t, z_t]),
//
// where prior, output and posterior are nets with hidden layers of the same widths. A sequence of one frame is a VAE
// whose prior is learned.
//
// Sequences stand side by side without padding (data/packed_sequences.h): `values` holds frames × columns, step after
// step, and alive[t] sequences, the first of all, have a frame at step t. The recurrence runs the posterior and the GRU
// step by step; prior and output are then found for all frames in one pass.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/distributions/distribution.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/nets/dense.h"
#include "harmonium/nets/gru.h"

namespace harmonium {

struct VrnnStructure {
  std::string visible = "bernoulli:88";   // what make_distribution() reads
  std::int64_t units = 100;               // of the GRU
  std::int64_t latent = 20;               // variables of each frame
  std::vector<std::int64_t> layers = {};  // hidden layers of prior, output and posterior
  Activation activation = Activation::tanh;
};

// Of all frames, step after step.
struct VrnnWalk {
  at::Tensor states;      // r_{t−1}: frames × units
  at::Tensor posteriors;  // frames × 2·latent, (μ', log σ')
  at::Tensor latents;     // frames × latent
};
struct VrnnDream {
  at::Tensor visible, means;  // frames × columns: draws, and E[x_t | z_t, r_{t−1}]
  at::Tensor latents;         // frames × latent
};

class Vrnn {
 public:
  // Parameters are zero.
  explicit Vrnn(VrnnStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const VrnnStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  // The law of z_t, given its mean and log deviation side by side.
  [[nodiscard]] const GaussianDistribution& latent() const { return latent_; }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same model under other parameters (shared, not copied).
  [[nodiscard]] Vrnn with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] Vrnn to(const at::TensorOptions& options) const;

  // Under given parameters, for rows of states r, of frames x and of latents z.
  [[nodiscard]] at::Tensor begin(const Moments& parameters, std::int64_t rows) const;  // r_0
  [[nodiscard]] at::Tensor prior(const Moments& parameters, const at::Tensor& r) const;
  [[nodiscard]] at::Tensor posterior(const Moments& parameters, const at::Tensor& x, const at::Tensor& r) const;
  // Raw columns of p(x | z, r).
  [[nodiscard]] at::Tensor output(const Moments& parameters, const at::Tensor& z, const at::Tensor& r) const;
  [[nodiscard]] at::Tensor next(const Moments& parameters, const at::Tensor& x, const at::Tensor& z,
                                const at::Tensor& r) const;

  // z_t (t from 0) of the sequences that have a frame there, given their posterior.
  using ChooseLatent = std::function<at::Tensor(std::int64_t step, const at::Tensor& posterior)>;
  [[nodiscard]] VrnnWalk walk(const Moments& parameters, const at::Tensor& values,
                              const std::vector<std::int64_t>& alive, const ChooseLatent& choose) const;
  // Draws of the posterior by the path: noise is a function of the key, the step and the place of the sequence.
  [[nodiscard]] ChooseLatent posterior_draws(const Key& key) const;
  [[nodiscard]] VrnnDream dream(const Moments& parameters, const std::vector<std::int64_t>& alive,
                                const Key& key) const;
  // E[x_t | z_t, r_{t−1}] where every z is the mean of its posterior.
  [[nodiscard]] at::Tensor reconstruct(const Moments& parameters, const at::Tensor& values,
                                       const std::vector<std::int64_t>& alive) const;

 private:
  friend void initialize(Vrnn& net, const Key& key, const at::Tensor& data_means);

  VrnnStructure structure_;
  std::shared_ptr<const Distribution> visible_;
  GaussianDistribution latent_;
  GruCell memory_;
  Dense prior_, posterior_, output_;
  Moments parameters_;
};

// Draws all nets afresh (nets/dense.h, nets/gru.h). Outputs begin at the means of the data (visible columns), clipped.
void initialize(Vrnn& net, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
