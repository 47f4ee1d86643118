// What a directed net with latent variables and learned inference may climb, and estimates of the gradient that need no
// path through a draw (models/directed/latent_model.h has the notation).
//
// Of a row x with draws h^1 … h^K ~ q(h | x), w^k = p(x, h^k)/q(h^k | x), w̃ = w/Σw, p̂ = (1/K)Σ w^k, L_K = E log p̂ (L_1
// is the ELBO; L_K ≤ L_{K+1} ≤ log p(x)). θ are the parameters of p, φ those of q. Every estimate is the derivative of
// a surrogate, in which ⟂ marks what counts as constant:
//
//   elbo:K        ∇L_1, unbiased: score function with a baseline (below)
//   nvil          the same with one draw, baseline net and normalized signals unless others are chosen (Mnih & Gregor
//                 2014)
//   iwae:K        ∇L_K, unbiased: score function with a running mean of log p̂ as baseline. High variance
//   vimco:K       ∇L_K, unbiased: for draw k log p̂ less what it would be with w^k replaced by the geometric mean of the
//                 others (Mnih & Rezende 2016)
//   rws:K         θ: Σ ⟂w̃ ∇log p(x, h), which is ∇_θ L_K in the mean. φ: the mean of wake, Σ ⟂w̃ ∇log q(h | x),
//                 biased by O(1/K) for −∇KL(p(h | x) ‖ q), and sleep, ∇log q(h | x) at (x, h) ~ p (Bornschein &
//                 Bengio 2015)
//   bihm:K        θ: ∇B_K, unbiased, B_K = 2 E log (1/K) Σ √w^k ≤ log p̃(x) (likelihood/bidirectional.h). φ: Σ ⟂ω
//                 ∇log q(h | x) − (1/K) Σ ∇log q(h | x), ω = √w/Σ√w, consistent for ∇log p̃, and nothing in the mean
//                 at K = 1 (Bornschein, Shabanian, Fischer & Bengio 2016)
//   straight_through  ∇L_1 with draws whose derivative is that of their means: biased (SigmoidBeliefNet::relax)
//   concrete:K    ∇L_K of the net with relaxed bits, unbiased for that and biased for the net itself; what is shown is
//                 the relaxed bound, too
//   wake_sleep    θ: ∇log p(x, h) at one h ~ q, unbiased for ∇_θ L_1. φ: sleep alone, the gradient of no bound on data
//
// Baselines of a signal f_l, of which any leaves the mean alone that does not know the draw:
//
//   none;  mean: its running mean;  net: that and b_l(h_{l−1}), a net fitted by (f_l − c_l − b_l)²;  leave_one_out: the
//   mean signal of the other draws;  optimal: the best constant for each parameter (optimal_baseline.h).
//
// A normalized signal is divided by max(1, √v_l), v_l the running variance of what the baseline leaves: unbiased up to
// a positive factor for each layer of φ.
//
// A prior that is normalized but for a constant (models/directed/rbm_prior.h) changes nothing for q: log Z is the same
// for all draws, cancels in w̃ and in vimco's and leave_one_out's differences, and is one more constant under any other
// baseline, where it may cost variance. What is shown is then larger by log Z. For p, ∇log Z is to be taken off once,
// since the shares of a row's draws add up to one (shares(); training/objectives/contrasted_part.h).
//
// The signal of layer l is what comes after h_{l−1}: f_l = Σ_{m≥l} [log p(h_{m−1} | h_m) − log q(h_m | h_{m−1})] +
// log p(h_L). Running means are those before the batch: what a batch knows of itself would bias it. Where there are
// none yet, in the first batch, q stands still.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/gradients/objectives/optimal_baseline.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/nets/dense.h"

namespace harmonium {

struct LatentObjectiveType {
  std::string name, form, help;       // "vimco", "vimco:K"
  std::int64_t least = 1, usual = 1;  // draws
  bool chooses_draws = false;
};
// All there are: help texts and messages read this table.
[[nodiscard]] const std::vector<LatentObjectiveType>& latent_objectives();

// What elbo:K and nvil do with their signals.
struct SignalOptions {
  std::string baseline = "auto";   // none, mean, net, leave_one_out, optimal; auto: the objective's usual one
  std::string normalize = "auto";  // yes, no; auto: yes for nvil
  std::vector<AffineLayer> recognition = {};  // what `optimal` is about
};
// {"none", "…"}, …: all baselines there are.
struct BaselineType {
  std::string name, help;
};
[[nodiscard]] const std::vector<BaselineType>& signal_baselines();

class LatentObjective {
 public:
  // A float64 number for each row. `shown` is log p̂ of the draws, or the mean of log w where L_1 is climbed.
  struct Surrogate {
    at::Tensor climbed, shown;
  };

  // "vimco:5", or "vimco" for the usual number of draws. `widths` are those of h_0 … h_{L−1}.
  LatentObjective(const std::string& spec, const std::vector<std::int64_t>& widths, const SignalOptions& options = {});

  [[nodiscard]] std::string spec() const;
  [[nodiscard]] std::int64_t draws() const { return draws_; }
  // The draws that of_trace() takes.
  [[nodiscard]] Trace infer(const LatentModel& model, const Moments& leaves, const at::Tensor& rows,
                            const Key& key) const;
  // Whether rows of the model's own are learnt from (of_dream).
  [[nodiscard]] bool dreams() const;
  // Puts nets of its own among the parameters, "baseline1.layer1.weights", …; most objectives have none.
  void declare(Moments& parameters, const Key& key) const;

  // Of rows with K draws of q each; latents have no gradient, unless they are relaxed. `guesses`: baselines known
  // otherwise, one for each layer, that take the place of running means and nets.
  [[nodiscard]] Surrogate of_trace(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                   const std::vector<at::Tensor>& guesses = {}) const;
  // Of rows that the model has drawn itself, with the latents that made them.
  [[nodiscard]] at::Tensor of_dream(const Trace& trace) const;
  // The same for `count` such rows; with draws of h_L that are at hand (rows × width), for those.
  [[nodiscard]] at::Tensor of_dreams(const LatentModel& model, const Moments& leaves, std::int64_t count,
                                     const Key& key, const at::Tensor& tops = {}) const;
  // What each draw's log p counts for in the surrogate of its row, rows × K: a row's shares add up to one.
  [[nodiscard]] at::Tensor shares(const at::Tensor& log_weights) const;
  // A draw of h_L for every row, chosen by those shares: rows × width.
  [[nodiscard]] at::Tensor chosen_tops(const Trace& trace, const Key& key) const;
  // Takes the signals of a batch into the running means.
  void observe(const Moments& leaves, const at::Tensor& rows, const Trace& trace);

  // One estimate for a batch: the means over rows of the surrogate and of what is shown. Draws, and observes. `tops`:
  // draws of the prior that dreams begin at where they are at hand. `seen` takes the draws where it is given.
  [[nodiscard]] Surrogate estimate(const LatentModel& model, const Moments& leaves, const at::Tensor& rows,
                                   const Key& key, const at::Tensor& tops = {}, Trace* seen = nullptr);

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& saved);

 private:
  // Whether draws have a path: straight_through, concrete.
  [[nodiscard]] bool relaxes() const { return name_ == "straight_through" || name_ == "concrete"; }
  // Whether signals are layer by layer: elbo, nvil.
  [[nodiscard]] bool by_layers() const { return !baseline_.empty(); }
  // What a batch teaches about the next.
  [[nodiscard]] bool remembers() const;
  // The score function of L_1, layer by layer.
  [[nodiscard]] at::Tensor by_score(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                    const std::vector<at::Tensor>& guesses) const;
  [[nodiscard]] at::Tensor iwae_signals(const at::Tensor& bound, const std::vector<at::Tensor>& guesses) const;
  // The signal less what a constant, or the other draws, say of it.
  [[nodiscard]] at::Tensor left_of(const at::Tensor& signal, std::size_t layer) const;
  // 1, or 0 while there is nothing to centre by.
  [[nodiscard]] double trusted(const std::vector<at::Tensor>& guesses) const;
  // b_l(h_{l−1}), rows × K (rows × 1 for the data).
  [[nodiscard]] at::Tensor baseline(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                    std::size_t layer) const;

  std::string name_;
  std::int64_t draws_ = 1;
  std::string baseline_;  // empty: not by_layers()
  bool normalizes_ = false;
  std::vector<Dense> nets_;
  std::optional<OptimalBaseline> optimal_ = std::nullopt;
  // Running mean and variance of signals, one for each layer, and batches seen; float64 on the CPU's side of a restore,
  // else where the batches are.
  at::Tensor means_, variances_;
  std::int64_t seen_ = 0;
};

// f_l, rows × K each, without a gradient.
[[nodiscard]] std::vector<at::Tensor> layer_signals(const Trace& trace);

}  // namespace harmonium
