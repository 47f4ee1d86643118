// log p(x) of rows under a decoder with real latents by annealed importance sampling over its noise ε, from both sides
// (Wu, Burda, Salakhutdinov & Grosse 2017). The decoder is all that is judged: with enough steps a poor encoder does
// not matter, and there need not be any.
//
//   from the prior    f_β(ε) = N(ε; 0, I) p(x | ε)^β,
//   from the encoder  f_β(ε) = q(ε | x)^{1−β} [N(ε; 0, I) p(x | ε)]^β,   q(ε | x) = q(z | x) |∂z/∂ε|.
//
// Both begin at a density that is normalized, so that with chains ε_0 ~ f_0, ε_k by HMC that leaves f_{β_k} as it is,
//
//   log w = Σ_k [log f_{β_k}(ε_{k−1}) − log f_{β_{k−1}}(ε_{k−1})],   E w = p(x):
//
// log-mean-exp over the chains of a row is low in mean. A row that the model has drawn itself comes with the ε that
// made it, an exact draw of f_1: chains that start there and walk down have E[1/w] = 1/p(x), and −log-mean-exp of −log
// w is high in mean. β follows the sigmoid schedule σ(4(2k/K − 1)), rescaled to [0, 1].
//
// A transition is one HMC trajectory of 10 leapfrog steps. Their length is a function of β: a pilot run on rows that
// the model draws itself, which are never judged, finds it so that 65 % are accepted. It is then held, because steps
// that follow where chains are would spoil the bounds. Cost: rows × chains × β × 11 gradients of the decoder (from the
// encoder: of every net). Sums are float64; the nets compute in the precision of the parameters, where those are.
#pragma once

#include <string>
#include <vector>

#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/likelihood/journal.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/samplers/hmc.h"

namespace harmonium {

enum class DecoderBase { prior, encoder };

struct DecoderAnnealingOptions {
  std::int64_t chains = 16;       // of every row
  std::int64_t betas = 1000;      // steps
  std::int64_t rows_at_once = 0;  // in blocks of 50; changes nothing but memory and time. 0: what suits the device
  Progress progress = {};         // told after every step; throws to stop
  Journal* journal = nullptr;     // may be null
  std::string name = "decoder";   // of what the journal keeps
};

// f_β of a model's decoder for any rows, with steps for every β.
class DecoderPath {
 public:
  static constexpr std::int64_t leapfrog = 10;

  // Finds the steps. The model must outlive it; parameters are shared.
  DecoderPath(const LatentModel& model, const Moments& parameters, DecoderBase base, const Key& key);

  [[nodiscard]] const LatentModel& model() const { return model_; }
  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] DecoderBase base() const { return base_; }
  [[nodiscard]] std::int64_t noise_width() const { return decoder_.noise_width(); }
  // At k/K of the way: β, and the step there.
  [[nodiscard]] static double beta(double place);
  [[nodiscard]] double step(double place) const;

  // Chains of rows of f_0, rows × chains × noise.
  [[nodiscard]] at::Tensor draw_base(const at::Tensor& rows, std::int64_t chains, const Key& key) const;
  // log f_0 and log f_1 of noise, rows × chains × noise: rows × chains each, float64. log f_β lies on the line between.
  struct Ends {
    at::Tensor first, last;
  };
  [[nodiscard]] Ends ends(const at::Tensor& rows, const at::Tensor& noise) const;
  // f_β of chains whose noise is (rows · chains) × noise. `rows` must outlive it.
  [[nodiscard]] HmcTarget target(const at::Tensor& rows, std::int64_t chains, double beta) const;

 private:
  const LatentModel& model_;
  const Decoder& decoder_;
  Moments parameters_;
  DecoderBase base_;
  std::vector<double> steps_;
};

struct AnnealedDecoder {
  at::Tensor log_weights;  // rows × chains, float64, on the CPU: log w; E w = p(x) upwards, E 1/w = 1/p(x) downwards
  at::Tensor log_p;        // rows, float64, on the CPU: low in mean upwards, high downwards
  at::Tensor effective_chains;  // rows: (Σ w)² / Σ w² of what is averaged
  double accepted = 0;          // share of trajectories
  // Mean of log_p, a bound. The interval has the noise of the chains, given these rows, to first order in it: too
  // narrow where effective chains are few.
  Estimate mean;
};
[[nodiscard]] AnnealedDecoder anneal_decoder(const DecoderPath& path, const at::Tensor& rows, const Key& key,
                                             const DecoderAnnealingOptions& options = {});
// Downwards, from the latents that made the rows (rows × width each).
[[nodiscard]] AnnealedDecoder anneal_decoder_down(const DecoderPath& path, const at::Tensor& rows,
                                                  const std::vector<at::Tensor>& makers, const Key& key,
                                                  const DecoderAnnealingOptions& options = {});

// Both ways on `count` rows, at least two, that the model draws itself.
[[nodiscard]] OwnDrawBounds own_draw_annealing(const DecoderPath& path, std::int64_t count, const Key& key,
                                               const DecoderAnnealingOptions& options = {});

// "ais from the encoder", "ais from the prior": how such estimates call themselves.
[[nodiscard]] std::string annealing_method(DecoderBase base);

}  // namespace harmonium
