// A layered Boltzmann machine: layers of exponential-family units joined by edges.
//
//   −E(x) = Σ_layers θ_l·t(x_l) + Σ_edges x_lᵀ W_e x_m,   p(x) = e^{−E(x)} / Z
//
// RBM, classification RBM, deep Boltzmann machine and Markov random field are builders over this class; nothing here
// knows how many layers there are. An edge may join a layer of binary or softmax units to itself: its weights are
// strictly upper triangular, so that every pair of units counts once (units of one softmax group are no pair). Natural
// parameters, statistics and gradients share one shape (Moments): "visible.bias", "visible_hidden.weights", … . Layers
// that share no edge form a block (blocks()), whose layers are conditionally independent given all others: what block
// Gibbs sampling, summing out and enumeration rest on. Units of a layer are independent given the rest as well, unless
// an edge joins the layer to itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/core/particles.h"
#include "harmonium/core/state.h"
#include "harmonium/core/topology.h"
#include "harmonium/models/coded_state.h"
#include "harmonium/units/unit.h"

namespace harmonium {

struct Layer {
  std::string name;
  std::shared_ptr<const Unit> unit;
  bool observed = false;  // holds data in training
};

struct Edge {
  std::string lower, upper;  // names of layers
};

using LayerSet = std::vector<std::size_t>;

// Fields of some layers, indexed by layer; undefined where a layer is not among them.
using Fields = std::vector<at::Tensor>;

class BoltzmannMachine {
 public:
  BoltzmannMachine(std::vector<Layer> layers, const std::vector<Edge>& edges, at::ScalarType type = at::kFloat);

  [[nodiscard]] const Topology& topology() const { return structure_->topology; }
  [[nodiscard]] const std::vector<Layer>& layers() const { return structure_->layers; }
  [[nodiscard]] const Unit& unit(std::size_t layer) const { return *layers()[layer].unit; }
  [[nodiscard]] std::size_t layer_index(const std::string& name) const;
  // Layers that hold data, and the others.
  [[nodiscard]] LayerSet observed() const;
  [[nodiscard]] LayerSet hidden() const;
  // Whether an edge joins hidden units to each other, so that they cannot be summed out in closed form.
  [[nodiscard]] bool hidden_joined() const;
  // A partition of the layers into sets without edges inside; the first holds the first layer.
  [[nodiscard]] const std::vector<LayerSet>& blocks() const { return structure_->blocks; }
  // The edge that joins a layer to itself, if there is one.
  [[nodiscard]] const EdgeInfo* inner_edge(std::size_t layer) const;
  // Those of the layers that have none.
  [[nodiscard]] LayerSet without_inner_edges(const LayerSet& layers) const;
  [[nodiscard]] at::ScalarType scalar_type() const;
  [[nodiscard]] at::Device device() const;
  // Both, for tensors that are to stand beside the parameters; `type` where another precision is wanted.
  [[nodiscard]] at::TensorOptions options() const;
  [[nodiscard]] at::TensorOptions options(at::ScalarType type) const { return options().dtype(type); }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same machine under other parameters (shared, not copied).
  [[nodiscard]] BoltzmannMachine with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] BoltzmannMachine to(const at::TensorOptions& options) const;
  // The same in float64 on the CPU: what enumerates states, or moves one unit at a time, works there.
  [[nodiscard]] BoltzmannMachine precise_on_cpu() const;
  [[nodiscard]] Unit::Parameters layer_parameters(std::size_t layer) const;
  // The same machine with units that are only imitated by cheaper draws replaced by those they stand for
  // (Unit::stands_for): what is judged and sampled.
  [[nodiscard]] BoltzmannMachine with_exact_units() const;
  // Puts every layer's parameters back into their domain after a step, and weights between real-valued units into that
  // in which Z is finite (definiteness.h).
  void constrain_();

  // Total input of every unit of a layer given all other units in `state`: rows × width. Layers that are no neighbours
  // may be undefined. The layer's own state is looked at where its units want it (Unit::wants_own_state).
  [[nodiscard]] at::Tensor field(std::size_t layer, const CodedState& state) const;
  [[nodiscard]] Fields fields(const LayerSet& layers, const CodedState& state) const;
  // A draw of a layer without an edge inside given all others; its field is written to `field` where one is given.
  [[nodiscard]] CodedTable draw(std::size_t layer, const Key& key, const CodedState& state,
                                at::Tensor* field = nullptr) const;
  // The neighbours' share of the field alone, without the bias: linear in the weights.
  [[nodiscard]] at::Tensor input(std::size_t layer, const CodedState& state) const;
  // `start` (fields, or a bias) and what the layers `from` add to it: a field in parts, of which some stay as they are.
  [[nodiscard]] at::Tensor add_input(const at::Tensor& start, std::size_t layer, const CodedState& state,
                                     const LayerSet& from) const;
  // W + Wᵀ of the edge inside a layer: what a unit adds to the field of the others.
  [[nodiscard]] at::Tensor couplings(std::size_t layer) const;
  // Σ xᵀ W y of each row over the edges that join the given layers to each other or to themselves (float64); zero where
  // there are none.
  [[nodiscard]] at::Tensor edge_potential(const State& state, const LayerSet& among) const;
  // −E of each row (float64); every layer of the state is needed.
  [[nodiscard]] at::Tensor log_potential(const State& state) const;
  // log Σ_{x_summed} e^{−E} of each row (float64), for layers without edges among themselves; their own entries in
  // `state` are not looked at. For an RBM with the hidden layer summed this is −F(v).
  [[nodiscard]] at::Tensor log_sum_out(const State& state, const LayerSet& summed) const;

  // Average over rows of the statistics g(x); layers whose field is given enter by their conditional expectation given
  // the rest (Rao–Blackwell). `weights` (rows, summing to one) replaces the plain average where defined.
  [[nodiscard]] Moments moments(const CodedState& state, Fields fields = {}, const at::Tensor& weights = {}) const;
  // Adds `scale` times that (a plain average) to `target`, without another matrix of its size.
  void add_moments_(Moments& target, double scale, const CodedState& state, Fields fields = {}) const;

  // Rows as geometry sees them, with the layers in `expected` (which share no edge) by their conditional expectation.
  [[nodiscard]] Particles particles(const State& state, const LayerSet& expected = {}) const;

  // A state whose rows are drawn from the layers' biases alone, as if all weights were zero.
  [[nodiscard]] State independent_sample(const Key& key, std::int64_t rows) const;
  // Refused unless every layer has a table of as many columns as units, all with the same number of rows (at least
  // one). For states that come from a file; `whose` begins the message.
  void require_whole_state(const State& state, std::string_view whose) const;
  // A state with the given values in observed layers (in layer order) and nothing elsewhere; checks widths and values'
  // rows. Values that are elsewhere are copied to the machine's device.
  [[nodiscard]] State observe(const std::vector<at::Tensor>& values) const;

 private:
  struct Structure {
    std::vector<Layer> layers;
    Topology topology;
    std::vector<LayerSet> blocks;
  };

  // Hands over the moments of layers' own statistics; returns the values, or expectations, that products are made of.
  // Fields are let go of on the way.
  [[nodiscard]] std::vector<CodedTable> unary_moments(
      const CodedState& state, Fields& fields, const at::Tensor& weights,
      const std::function<void(const std::string&, const at::Tensor&)>& take) const;
  // A neighbour of a layer and the weights its state is multiplied by.
  struct Neighbour {
    std::size_t layer;
    at::Tensor weights;
  };
  [[nodiscard]] std::vector<Neighbour> neighbours(std::size_t layer) const;
  // start (a bias, or undefined for zero) + what the neighbours add.
  [[nodiscard]] at::Tensor accumulate_input(std::size_t layer, const CodedState& state, const at::Tensor& start) const;
  // The total and what the layer's own state adds to a field.
  [[nodiscard]] at::Tensor complete_field(std::size_t layer, const CodedState& state, const at::Tensor& total) const;

  std::shared_ptr<const Structure> structure_;
  Moments parameters_;
};

}  // namespace harmonium
