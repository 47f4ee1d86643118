// Inference by sampling for machines whose hidden units are joined: one hidden state for every training row, kept from
// one visit of the row to the next and redrawn by Gibbs sampling with the data held (Salakhutdinov & Hinton 2009 use
// mean field here; Neal's and the original learning procedure sample). The procedure of Ackley, Hinton & Sejnowski
// (1985) starts every visit hot and cools down to temperature 1: Start::hot.
//
// Mean field is biased against upper layers that work: where q factorizes and the chains of the negative phase do not,
// E_q[h₁h₂ᵀ] − E_chain[h₁h₂ᵀ] pulls the weights between hidden layers to zero. A sampled state has no such bias once it
// has forgotten its start, and with small steps the stored state is a draw of almost the same posterior.
//
// A visit of rows v: for every block of hidden layers in turn, means given all others, then draws. Data moments of
//   an edge to data:             v · E[h | rest]ᵀ,
//   an edge between two blocks:  (draw of the earlier) · E[later | rest]ᵀ,
//   an edge inside a layer:      ½ (draw · E[h | rest]ᵀ + E[h | rest] · drawᵀ), each unit given all others,
//   a layer alone:               E[h | rest].
// Each is a conditional expectation of the statistic under the chain (Rao–Blackwell), so each is unbiased once the
// chain has its stationary distribution. Cost of a sweep: two products with every matrix of weights. Memory: a byte for
// every row and unit of the hidden layers beyond the first block (which is drawn from the others) and of all layers
// with an edge inside, whose units are redrawn one after another; kept with the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/inference/mean_field.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct SampledPosteriorOptions {
  std::int64_t sweeps = 1;  // of all hidden layers, at every visit of a row
  // Where a visit starts: where the last one left the row's state; or, and then nothing is kept, at a draw of the
  // mean-field distribution, or at random states, which are annealed.
  enum class Start { kept, mean_field, hot } start = Start::kept;
  double temperature = 10;  // of the first sweep of Start::hot; it falls geometrically to 1 at the last
  MeanFieldOptions mean_field = {};
};

class SampledPosterior {
 public:
  // States of `rows` training rows, drawn from the biases. Layers that are annealed must be binary or softmax.
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
  // Whether a layer's state is needed where a visit begins: not where it is drawn first, as a whole.
  [[nodiscard]] bool begins_with(const BoltzmannMachine& machine, std::size_t layer) const;
  // Where a visit begins: the observed layers and all such hidden ones.
  [[nodiscard]] CodedState start(const BoltzmannMachine& machine, const State& data, const at::Tensor& rows,
                                 const Key& key) const;
  // Redraws a layer at temperature 1/β and puts its field given all others at temperature 1 into `field`.
  void redraw(const BoltzmannMachine& machine, std::size_t layer, CodedState& state, double beta, const Key& key,
              at::Tensor& field) const;
  [[nodiscard]] double beta_of(std::int64_t sweep) const;

  SampledPosteriorOptions options_;
  std::vector<LayerSet> blocks_;   // in the order of drawing
  std::vector<std::size_t> turn_;  // of a layer: 0 observed, else 1 + its block
  std::vector<at::Tensor> kept_;   // by layer: rows × width, bytes where values are 0 or 1; undefined where not kept
};

}  // namespace harmonium
