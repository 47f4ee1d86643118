#include "harmonium/models/boltzmann_machine.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/binary_product.h"
#include "harmonium/models/definiteness.h"

namespace harmonium {

namespace {

std::size_t find_layer(const std::vector<Layer>& layers, const std::string& name) {
  const auto it = std::ranges::find(layers, name, &Layer::name);
  require(it != layers.end(), "the machine has no layer named '{}'", name);
  return static_cast<std::size_t>(it - layers.begin());
}

bool joined(const Topology& topology, std::size_t a, std::size_t b) {
  return std::ranges::any_of(topology.edges, [&](const EdgeInfo& edge) {
    return (edge.lower == a && edge.upper == b) || (edge.upper == a && edge.lower == b);
  });
}

// 1 above the diagonal of parts (a binary unit, a softmax group), 0 elsewhere.
at::Tensor pairs_inside(const Unit& unit) {
  const std::int64_t columns = unit.digit().columns, parts = unit.width() / columns;
  return at::kron(at::ones({parts, parts}).triu(1), at::ones({columns, columns}));
}

// Layers in breadth-first order along the edges, from the first layer of each connected part.
LayerSet breadth_first(const Topology& topology) {
  LayerSet order;
  const auto add = [&](std::size_t layer) {
    if (std::ranges::find(order, layer) == order.end()) order.push_back(layer);
  };
  for (std::size_t start = 0; start < topology.layers.size(); ++start) {
    add(start);
    // By index, because the list grows on the way.
    for (std::size_t next = 0; next < order.size(); ++next)  // NOLINT(modernize-loop-convert)
      for (std::size_t other = 0; other < topology.layers.size(); ++other)
        if (joined(topology, order[next], other)) add(other);
  }
  return order;
}

// Greedy colouring, which in breadth-first order needs no more than two colours wherever two are enough: a chain falls
// into its even and odd layers, an RBM into visible and hidden.
std::vector<LayerSet> color(const Topology& topology) {
  std::vector<LayerSet> blocks;
  for (const std::size_t layer : breadth_first(topology)) {
    const auto touches = [&](std::size_t other) { return joined(topology, layer, other); };
    const auto home =
        std::ranges::find_if(blocks, [&](const LayerSet& block) { return std::ranges::none_of(block, touches); });
    if (home == blocks.end())
      blocks.push_back({layer});
    else
      home->push_back(layer);
  }
  for (LayerSet& block : blocks) std::ranges::sort(block);
  return blocks;
}

// Units that are free of each other but for the edge: one at a time is what samplers of such layers move.
bool can_be_joined_to_itself(const Unit& unit) {
  return unit.support() == Unit::Support::bits || unit.support() == Unit::Support::one_hot;
}

// Some log-partitions grow faster than any square, and then only bounded neighbours leave Z finite.
void require_bounded_neighbour(const Layer& layer, const Layer& neighbour) {
  const at::Tensor growth = layer.unit->growth(layer.unit->neutral_parameters(at::kDouble));
  require(!growth.defined() || growth.isfinite().all().item<bool>() || neighbour.unit->state_count().has_value(),
          "layer '{}' ({}) is joined to layer '{}' ({}), whose values have no bounds: Z would be infinite. Units of "
          "type {} need neighbours with bounded values, such as binary ones",
          layer.name, layer.unit->spec(), neighbour.name, neighbour.unit->spec(),
          layer.unit->spec().substr(0, layer.unit->spec().find(':')));
}

}  // namespace

BoltzmannMachine::BoltzmannMachine(std::vector<Layer> layers, const std::vector<Edge>& edges, at::ScalarType type) {
  require(!layers.empty(), "a machine needs at least one layer");
  auto structure = std::make_shared<Structure>();
  for (const Layer& layer : layers) {
    LayerInfo info{layer.name, layer.unit->width(), {}, layer.unit->indicator()};
    require(layer.observed || !layer.unit->wants_own_state(),
            "layer '{}' is hidden, and units {} must be observed: data say what belongs to each row", layer.name,
            layer.unit->spec());
    const Unit::Parameters initial = layer.unit->neutral_parameters(type);
    for (std::size_t i = 0; const std::string& parameter : layer.unit->parameter_names()) {
      info.parameters.push_back(layer.name + "." + parameter);
      parameters_.insert(info.parameters.back(), initial[i++]);
    }
    structure->topology.layers.push_back(std::move(info));
  }
  for (const Edge& edge : edges) {
    const std::size_t lower = find_layer(layers, edge.lower), upper = find_layer(layers, edge.upper);
    require(lower != upper || can_be_joined_to_itself(*layers[lower].unit),
            "an edge joins layer '{}' ({}) to itself; only layers with finitely many states in parts that are free of "
            "each other can have that: binary and softmax units",
            edge.lower, layers[lower].unit->spec());
    require_bounded_neighbour(layers[lower], layers[upper]);
    require_bounded_neighbour(layers[upper], layers[lower]);
    const std::string name = edge.lower + "_" + edge.upper + ".weights";
    parameters_.insert(name, at::zeros({layers[lower].unit->width(), layers[upper].unit->width()}, type));
    structure->topology.edges.push_back(
        {name, lower, upper, lower == upper ? pairs_inside(*layers[lower].unit) : at::Tensor()});
  }
  structure->blocks = color(structure->topology);
  structure->layers = std::move(layers);
  structure_ = std::move(structure);
}

std::size_t BoltzmannMachine::layer_index(const std::string& name) const { return find_layer(layers(), name); }

LayerSet BoltzmannMachine::observed() const {
  LayerSet result;
  for (std::size_t i = 0; i < layers().size(); ++i)
    if (layers()[i].observed) result.push_back(i);
  return result;
}

LayerSet BoltzmannMachine::hidden() const {
  LayerSet result;
  for (std::size_t i = 0; i < layers().size(); ++i)
    if (!layers()[i].observed) result.push_back(i);
  return result;
}

bool BoltzmannMachine::hidden_joined() const {
  return std::ranges::any_of(topology().edges, [this](const EdgeInfo& edge) {
    return !layers()[edge.lower].observed && !layers()[edge.upper].observed;
  });
}

const EdgeInfo* BoltzmannMachine::inner_edge(std::size_t layer) const {
  for (const EdgeInfo& edge : topology().edges)
    if (edge.inner() && edge.lower == layer) return &edge;
  return nullptr;
}

LayerSet BoltzmannMachine::without_inner_edges(const LayerSet& layers) const {
  LayerSet result;
  for (const std::size_t layer : layers)
    if (inner_edge(layer) == nullptr) result.push_back(layer);
  return result;
}

at::ScalarType BoltzmannMachine::scalar_type() const { return parameters_.entries().front().second.scalar_type(); }

at::Device BoltzmannMachine::device() const { return parameters_.entries().front().second.device(); }

at::TensorOptions BoltzmannMachine::options() const { return at::TensorOptions(scalar_type()).device(device()); }

BoltzmannMachine BoltzmannMachine::with_parameters(Moments parameters) const {
  BoltzmannMachine other = *this;
  other.parameters_ = std::move(parameters);
  if (other.parameters_.empty() || other.device() == device()) return other;
  auto structure = std::make_shared<Structure>(*structure_);
  for (EdgeInfo& edge : structure->topology.edges)
    if (edge.inner()) edge.pairs = edge.pairs.to(other.device());
  other.structure_ = std::move(structure);
  return other;
}

BoltzmannMachine BoltzmannMachine::with_exact_units() const {
  const auto imitates = [](const Layer& layer) { return layer.unit->stands_for() != nullptr; };
  if (std::ranges::none_of(layers(), imitates)) return *this;
  auto structure = std::make_shared<Structure>(*structure_);
  for (Layer& layer : structure->layers)
    if (imitates(layer)) layer.unit = layer.unit->stands_for();
  BoltzmannMachine other = *this;
  other.structure_ = std::move(structure);
  return other;
}

BoltzmannMachine BoltzmannMachine::to(const at::TensorOptions& options) const {
  return with_parameters(
      parameters_.map([&options](const at::Tensor& x) { return x.to(options, false, /*copy=*/true); }));
}

BoltzmannMachine BoltzmannMachine::precise_on_cpu() const {
  return to(at::TensorOptions(at::kDouble).device(at::kCPU));
}

Unit::Parameters BoltzmannMachine::layer_parameters(std::size_t layer) const {
  Unit::Parameters result;
  for (const std::string& name : topology().layers[layer].parameters) result.push_back(parameters_[name]);
  return result;
}

void BoltzmannMachine::constrain_() {
  KnownStrength nothing;
  harmonium::constrain_(*this, nothing);
}

at::Tensor BoltzmannMachine::field(std::size_t layer, const CodedState& state) const {
  return complete_field(layer, state,
                        accumulate_input(layer, state, parameters_[topology().layers[layer].parameters.front()]));
}

at::Tensor BoltzmannMachine::complete_field(std::size_t layer, const CodedState& state, const at::Tensor& total) const {
  if (!unit(layer).wants_own_state()) return total;
  require(state.layers[layer].defined(),
          "layer '{}' ({}): what belongs to each row, such as the number of its words, is read off the layer's state, "
          "and there is none here",
          layers()[layer].name, unit(layer).spec());
  return unit(layer).with_own_state(total, state.layers[layer].table());
}

at::Tensor BoltzmannMachine::input(std::size_t layer, const CodedState& state) const {
  return accumulate_input(layer, state, {});
}

at::Tensor BoltzmannMachine::add_input(const at::Tensor& start, std::size_t layer, const CodedState& state,
                                       const LayerSet& from) const {
  at::Tensor total = start;
  for (const Neighbour& each : neighbours(layer))
    if (std::ranges::find(from, each.layer) != from.end())
      total = add_product(total, state.layers[each.layer], each.weights);
  return total.dim() == 2 ? total : total.expand({state.rows(), total.size(0)}).contiguous();
}

std::vector<BoltzmannMachine::Neighbour> BoltzmannMachine::neighbours(std::size_t layer) const {
  std::vector<Neighbour> result;
  // An edge inside the layer passes both lines: W of the pairs before a unit, Wᵀ of those after it.
  for (const EdgeInfo& edge : topology().edges) {
    if (edge.upper == layer) result.push_back({edge.lower, parameters_[edge.weights]});
    if (edge.lower == layer) result.push_back({edge.upper, parameters_[edge.weights].t()});
  }
  return result;
}

at::Tensor BoltzmannMachine::accumulate_input(std::size_t layer, const CodedState& state,
                                              const at::Tensor& start) const {
  at::Tensor total = start;
  for (const Neighbour& each : neighbours(layer)) total = add_product(total, state.layers[each.layer], each.weights);
  if (total.defined() && total.dim() == 2) return total;
  // No edge reached the layer: nothing but the start, the same in every row.
  const at::Tensor row = total.defined() ? total : at::zeros({unit(layer).width()}, options());
  return row.expand({state.rows(), row.size(0)}).contiguous();
}

CodedTable BoltzmannMachine::draw(std::size_t layer, const Key& key, const CodedState& state, at::Tensor* field) const {
  const Unit::Parameters theta = layer_parameters(layer);
  const std::vector<Neighbour> all = neighbours(layer);
  if (all.empty() || unit(layer).wants_own_state()) {
    const at::Tensor total = complete_field(layer, state, accumulate_input(layer, state, theta[0]));
    if (field != nullptr) *field = total;
    return unit(layer).sample(key, total, theta);
  }
  // The last product is left to the unit, which may draw from it as it comes.
  at::Tensor start = theta[0];
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    start = add_product(start, state.layers[all[i].layer], all[i].weights);
  return unit(layer).sample(key, {start, state.layers[all.back().layer], all.back().weights}, theta, field);
}

Fields BoltzmannMachine::fields(const LayerSet& wanted, const CodedState& state) const {
  Fields result(layers().size());
  for (const std::size_t layer : wanted) result[layer] = field(layer, state);
  return result;
}

at::Tensor BoltzmannMachine::couplings(std::size_t layer) const {
  const EdgeInfo* edge = inner_edge(layer);
  require(edge != nullptr, "layer '{}' has no edge inside", layers()[layer].name);
  const at::Tensor& weights = parameters_[edge->weights];
  return weights + weights.t();
}

State BoltzmannMachine::independent_sample(const Key& key, std::int64_t rows) const {
  State state;
  for (std::size_t layer = 0; layer < layers().size(); ++layer) {
    require(!unit(layer).wants_own_state(),
            "rows of units {} cannot be drawn from nothing: their lengths are not part of the model. Chains start at "
            "data (@gradient cd)",
            unit(layer).spec());
    const Unit::Parameters theta = layer_parameters(layer);
    state.layers.push_back(
        unit(layer).sample(key.fold_in(layer), theta[0].expand({rows, theta[0].size(0)}).contiguous(), theta));
  }
  return state;
}

void BoltzmannMachine::require_whole_state(const State& state, std::string_view whose) const {
  require(state.layers.size() == layers().size(), "{}: the state has {} layers, the machine {}", whose,
          state.layers.size(), layers().size());
  for (std::size_t layer = 0; layer < layers().size(); ++layer) {
    const at::Tensor& values = state.layers[layer];
    require(values.defined() && values.dim() == 2 && values.size(0) >= 1 && values.size(0) == state.rows() &&
                values.size(1) == unit(layer).width(),
            "{}: the state of layer {} is not a table of {} rows and {} columns", whose, layers()[layer].name,
            state.rows(), unit(layer).width());
  }
}

State BoltzmannMachine::observe(const std::vector<at::Tensor>& values) const {
  const LayerSet targets = observed();
  require(values.size() == targets.size(), "the machine observes {} layers, but {} were given", targets.size(),
          values.size());
  State state;
  state.layers.resize(layers().size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Layer& layer = layers()[targets[i]];
    require(values[i].dim() == 2 && values[i].size(1) == layer.unit->width(),
            "data for layer '{}' has {} columns, the layer has {} units", layer.name,
            values[i].dim() == 2 ? values[i].size(1) : values[i].dim(), layer.unit->width());
    require(i == 0 || values[i].size(0) == values[0].size(0), "data for layer '{}' has {} rows, but layer '{}' has {}",
            layer.name, values[i].size(0), layers()[targets[0]].name, values[0].size(0));
    state.layers[targets[i]] = values[i].to(device());
  }
  return state;
}

}  // namespace harmonium
