// Latent variables of a sigmoid belief net given data, by Gibbs sampling unit by unit (Neal 1992):
//
//   log-odds of h_lj given all others = a_j(h_{l+1}) + log p(h_{l−1} | h_l, h_lj = 1) − log p(h_{l−1} | h_l, h_lj = 0),
//
// a_j from the layer above, or from the prior. What the units of a layer put out to the layer below is kept and updated
// as they change, so that a sweep costs a few passes through the net; but units follow one another, and only rows are
// worked on side by side. In the limit of many sweeps states are draws of p(h | x). Layers that explain one row in
// several ways mix slowly, the more so the more layers there are.
#pragma once

#include "harmonium/core/named_tensors.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

// `sweeps` sweeps over all layers from below, each in the order of its units. `latents`: rows × width for each layer.
// The net has no deterministic layers between stochastic ones.
[[nodiscard]] std::vector<at::Tensor> gibbs_sweeps(const SigmoidBeliefNet& net, const Moments& parameters,
                                                   const at::Tensor& rows, std::vector<at::Tensor> latents,
                                                   std::int64_t sweeps, const Key& key);

// The same with a state for each training row, a byte for each unit, kept from one visit of the row to the next: with
// small steps of learning a kept state is a draw of almost the same posterior.
class LatentGibbs {
 public:
  // States of `rows` training rows begin at draws of p(h), what the net says before it sees any data.
  LatentGibbs(const SigmoidBeliefNet& net, std::int64_t rows, std::int64_t sweeps, const Key& key);

  // Moves the states of the rows with these numbers (int64) and returns them.
  [[nodiscard]] std::vector<at::Tensor> visit(const SigmoidBeliefNet& net, const Moments& parameters,
                                              const at::Tensor& rows, const at::Tensor& numbers, const Key& key);

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& saved);

 private:
  std::int64_t sweeps_;
  std::vector<at::Tensor> kept_;  // by layer: training rows × width
};

}  // namespace harmonium
