// Inference by sampling for machines whose hidden layers are joined: one hidden state for every training row, kept from
// one visit of the row to the next and redrawn by block Gibbs with the data held (Salakhutdinov & Hinton 2009 use mean
// field here; Neal's and the original learning procedure sample).
//
// Mean field is biased against upper layers that work: where q factorizes and the chains of the negative phase do not,
// E_q[h₁h₂ᵀ] − E_chain[h₁h₂ᵀ] pulls the weights between hidden layers to zero. A sampled state has no such bias once it
// has forgotten its start, and with small steps the stored state is a draw of almost the same posterior.
//
// A visit of rows v: for every block of hidden layers in turn, means given all others, then draws. Data moments of
//   an edge to data:             v · E[h | rest]ᵀ,
//   an edge between two blocks:  (draw of the earlier) · E[later | rest]ᵀ,
//   a layer alone:               E[h | rest].
// Each is a conditional expectation of the statistic under the chain (Rao–Blackwell), so each is unbiased once the
// chain has its stationary distribution. Cost of a sweep: two products with every matrix of weights. Memory: a byte for
// every row and unit of the hidden layers beyond the first block (which is drawn from the others), kept with the
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct SampledPosteriorOptions {
  std::int64_t sweeps = 1;  // of all hidden layers, at every visit of a row
  // Whether a visit goes on from where the last one left the row's state. Else it starts at a draw of the mean-field
  // distribution, and nothing is kept.
  bool persistent = true;
};

class SampledPosterior {
 public:
  // States of `rows` training rows, drawn from the biases. Hidden layers with an edge inside are refused.
  SampledPosterior(const BoltzmannMachine& machine, std::int64_t rows, const SampledPosteriorOptions& options,
                   const Key& key);

  // Moves the states of the rows with these numbers (int64, one for each row of `data`) and returns the moments of
  // data. A row that occurs twice in a batch is moved twice from the same state; one result is kept.
  [[nodiscard]] Moments data_moments(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                     const Key& key);

  // What such states take of memory.
  [[nodiscard]] static double bytes(const BoltzmannMachine& machine, std::int64_t rows);

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& saved);

 private:
  // Where a visit begins: the observed layers and all hidden ones but those of the first block, which are drawn next.
  [[nodiscard]] CodedState start(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                 const Key& key) const;

  SampledPosteriorOptions options_;
  std::vector<LayerSet> blocks_;   // in the order of drawing
  std::vector<std::size_t> turn_;  // of a layer: 0 observed, else 1 + its block
  std::vector<at::Tensor> kept_;   // by layer: rows × width, bytes where values are 0 or 1; undefined where not kept
};

}  // namespace harmonium
