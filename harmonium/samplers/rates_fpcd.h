// Rates-FPCD (Breuleux, Bengio & Vincent 2011): Gibbs sampling of a trained machine under weights that shun where the
// chain has just been.
//
//   x_t: a Gibbs sweep under θ + θ_fast,   θ_fast ← λ θ_fast + ε (s − ĝ(x_t)),
//
// s being fixed moments (the "rates"): those of the data under the trained machine, found once. The layers drawn last
// enter ĝ by their expectation given the others. Where a chain stays, its own statistics exceed s, the overlay raises
// the energy there, and the chain is driven off. Every chain has an overlay of its own: one that all shared would see
// their average only, and leave a chain alone as long as the others make up for it.
//
// NOT exact: chains do not have the machine's distribution. They are drawn towards s and towards having been elsewhere;
// the bias goes away only as ε → 0, and with it the advantage. Good for looking at what a model knows, not for
// expectations. With ε = 0 it is gibbs(), bit by bit. Precisions of continuous units have no overlay. Memory: all
// parameters once per chain; cost of a sweep: two passes over them per chain besides those of Gibbs sampling.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct RatesFpcdOptions {
  double fast_rate = 0.01;   // ε
  double fast_decay = 0.95;  // λ
};

class RatesFpcd {
 public:
  // `target` has the machine's entries; every layer of `start` is defined.
  RatesFpcd(const BoltzmannMachine& machine, const Moments& target, State start, const RatesFpcdOptions& options = {});

  // One sweep of every chain; keys as those of gibbs() with one sweep.
  const State& step(const Key& key);
  [[nodiscard]] const State& state() const { return state_; }

  // θ_fast of one chain.
  [[nodiscard]] Moments overlay(std::int64_t chain) const;

 private:
  [[nodiscard]] at::Tensor field(std::size_t layer) const;
  void shun(const Fields& drawn_last);

  BoltzmannMachine machine_;
  Moments target_;
  RatesFpcdOptions options_;
  State state_;
  // θ_fast = pull · s − shunned, where shunned (rows × shape of the entry) is ε Σ_t λ^{age} ĝ(x_t) of each chain: the
  // first part is the same for all chains and belongs into the machine.
  double pull_ = 0;
  BoltzmannMachine pulled_;
  Moments shunned_;
};

}  // namespace harmonium
