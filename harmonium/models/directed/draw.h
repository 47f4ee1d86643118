// DRAW, a recurrent variational autoencoder that paints its rows on a canvas in T steps (Gregor, Danihelka, Graves,
// Rezende & Wierstra 2015):
//
//   c_0, e_0, d_0 learned;   for t = 1 … T:
//     r_t = read(x, x − E[x | c_{t−1}], d_{t−1}),   e_t = LSTM(e_{t−1}, [r_t, d_{t−1}]),
//     z_t ~ q(z_t | x, z_{<t}) = N(μ(e_t), diag σ²(e_t)),   p(z_t) = N(0, I),
//     d_t = LSTM(d_{t−1}, z_t),   c_t = c_{t−1} + write(d_t),
//   p(x | z) = the visible distribution of c_T:   logits of pixels, or means with a common standard deviation.
//
// With attention read takes N × N filters of x and of the error, and write puts a patch of N × N on the canvas, each
// where five numbers, linear in d, say (nets/glimpse.h). Without it r = [x, error] and write is linear in d.
//
// Only q looks at x. So z = (z_1 … z_T) ~ N(0, I) under p, noise and latents are the same, and the net is a decoder of
// them whatever T is. Of a trace, log_p[0] is log p(x | z), log_p[t] is log p(z_t), log_q[t − 1] is log q(z_t | x,
// z_{<t}): given latents, the recurrence runs with them in place of draws.
//
// Cost: T steps for each draw of each row, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/distributions/distribution.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/nets/dense.h"
#include "harmonium/nets/lstm.h"

namespace harmonium {

struct DrawStructure {
  std::string visible = "bernoulli:784";  // what make_distribution() reads
  std::int64_t height = 28, width = 28;   // of the picture
  std::int64_t steps = 10;                // T
  std::int64_t latent = 100;              // variables of each step
  std::int64_t hidden = 256;              // units of either LSTM
  std::int64_t read = 0, write = 0;       // filters along a side of the grid; 0: no attention
};

// Of some rows under q.
struct DrawWalk {
  std::vector<at::Tensor> posteriors;  // of each step: rows × 2·latent, (μ, log σ)
  std::vector<at::Tensor> latents;     // of each step: rows × latent
  at::Tensor canvas;                   // c_T, rows × pixels
};
// z_t (t from 0) whose posterior is known.
using ChooseLatent = std::function<at::Tensor(std::int64_t step, const at::Tensor& posterior)>;

class DrawNet final : public LatentModel, private Decoder {
 public:
  // Parameters are zero.
  explicit DrawNet(DrawStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const DrawStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  // The law of a step, given its mean and log deviation side by side.
  [[nodiscard]] const GaussianDistribution& latent() const { return latent_; }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same model under other parameters (shared, not copied).
  [[nodiscard]] DrawNet with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] DrawNet to(const at::TensorOptions& options) const;

  // Under its own parameters. Means of q at every step, each given the means before it: rows × steps·latent.
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows) const;
  // E[x | those means].
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const;
  [[nodiscard]] Dream sample(const Key& key, std::int64_t count) const;

  // Under given parameters. Both recurrences over rows.
  [[nodiscard]] DrawWalk walk(const Moments& parameters, const at::Tensor& rows, const ChooseLatent& choose) const;
  // c_0 … c_T of latents (count × latent each): the decoder alone.
  [[nodiscard]] std::vector<at::Tensor> canvases(const Moments& parameters,
                                                 const std::vector<at::Tensor>& latents) const;
  // Raw columns of p(x | canvas).
  [[nodiscard]] at::Tensor visible_raw(const Moments& parameters, const at::Tensor& canvas) const;
  // Draw number `first_draw` and those after it for walks over rows each of which comes `draws` times in turn: element
  // i of a draw depends on the key, the draw and i.
  [[nodiscard]] ChooseLatent posterior_draws(const Key& key, std::int64_t draws, std::int64_t first_draw = 0) const;

  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw = 0) const override;
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override;
  [[nodiscard]] const Decoder* decoder() const override { return this; }

 private:
  friend void initialize(DrawNet& net, const Key& key, const at::Tensor& data_means);
  // What the decoder knows after some steps.
  struct Painting {
    LstmCell::State decoder;
    at::Tensor canvas;
  };
  [[nodiscard]] Painting begin(const Moments& parameters, std::int64_t count) const;
  void paint(const Moments& parameters, const at::Tensor& latents, Painting& painting) const;
  [[nodiscard]] at::Tensor look(const Moments& parameters, const at::Tensor& rows, const Painting& painting) const;
  [[nodiscard]] at::Tensor painted(const Moments& parameters, const std::vector<at::Tensor>& latents) const;
  // Raw columns of p(x | z) of latents that are … × latent.
  [[nodiscard]] at::Tensor raw_of(const Moments& parameters, const std::vector<at::Tensor>& latents) const;
  [[nodiscard]] Trace traced(const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                             const ChooseLatent& choose) const;

  // Decoder
  [[nodiscard]] std::int64_t noise_width() const override { return structure_.steps * structure_.latent; }
  [[nodiscard]] std::vector<at::Tensor> latents(const Moments& parameters, const at::Tensor& noise) const override;
  [[nodiscard]] at::Tensor noise(const Moments& parameters, const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] at::Tensor means(const Moments& parameters, const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] at::Tensor log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                          const std::vector<at::Tensor>& latents) const override;

  DrawStructure structure_;
  std::shared_ptr<const Distribution> visible_;
  GaussianDistribution latent_;
  LstmCell encoder_, decoder_;
  Dense posterior_, write_, read_place_, write_place_;
  Moments parameters_;
};

// Draws all nets afresh (nets/dense.h, nets/lstm.h). The canvas begins at the means of the data (visible columns),
// clipped.
void initialize(DrawNet& net, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
