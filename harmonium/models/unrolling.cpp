#include "harmonium/models/unrolling.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

// The edge between the first layer and the hidden one, and its weights as visible × hidden.
at::Tensor upward_weights(const BoltzmannMachine& machine) {
  const std::size_t hidden = machine.hidden().front();
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower == 0 && edge.upper == hidden) return machine.parameters()[edge.weights];
    if (edge.upper == 0 && edge.lower == hidden) return machine.parameters()[edge.weights].t();
  }
  fail("a machine of a stack has no edge between '{}' and '{}'", machine.layers()[0].name,
       machine.layers()[hidden].name);
}

// E[units of `layer` | states] with the given weights (states × units) as a layer of a net.
struct UnrolledLayer {
  DenseLayer shape;
  at::Tensor weights, bias;
};

UnrolledLayer unroll(const BoltzmannMachine& machine, std::size_t layer, const at::Tensor& weights) {
  const Unit& unit = machine.unit(layer);
  const Unit::Parameters parameters = machine.layer_parameters(layer);
  if (!unit.activation()) {
    std::string known;
    for (const UnitType& type : unit_types())
      if (make_unit(type.example)->activation()) known += (known.empty() ? "" : ", ") + type.name;
    fail("layer '{}' has units '{}', whose means no layer of a feed-forward net computes; it can be done for: {}",
         machine.layers()[layer].name, unit.spec(), known);
  }
  const DenseLayer shape{.inputs = weights.size(0), .outputs = weights.size(1), .activation = *unit.activation()};
  const at::Tensor divisor = unit.activation_divisor(parameters);
  if (!divisor.defined()) return {shape, weights, parameters[0]};
  return {shape, weights / divisor, parameters[0] / divisor};
}

std::vector<UnrolledLayer> upward(const MachineStack& stack) {
  require_stack(stack);
  std::vector<UnrolledLayer> layers;
  for (const BoltzmannMachine& machine : stack)
    layers.push_back(unroll(machine, machine.hidden().front(), upward_weights(machine)));
  return layers;
}

FeedForward assemble(const std::vector<UnrolledLayer>& layers, std::optional<std::size_t> code) {
  std::vector<DenseLayer> shapes;
  for (const UnrolledLayer& layer : layers) shapes.push_back(layer.shape);
  FeedForward net(std::move(shapes), code, layers.front().weights.scalar_type());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    at::Tensor(net.weights(i)).copy_(layers[i].weights);
    at::Tensor(net.bias(i)).copy_(layers[i].bias);
  }
  return net;
}

// Weights of the label's edge as hidden × classes, where the machine has a label of that width.
at::Tensor label_output_weights(const BoltzmannMachine& machine, std::int64_t classes) {
  const auto found = std::ranges::find(machine.layers(), "label", &Layer::name);
  if (found == machine.layers().end() || found->unit->width() != classes) return {};
  const auto label = static_cast<std::size_t>(found - machine.layers().begin());
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower == label) return machine.parameters()[edge.weights].t();
    if (edge.upper == label) return machine.parameters()[edge.weights];
  }
  return {};
}

}  // namespace

FeedForward unroll_encoder(const MachineStack& stack) { return assemble(upward(stack), std::nullopt); }

FeedForward unroll_classifier(const MachineStack& stack, std::int64_t classes, const Key& key) {
  require(classes >= 2, "a classifier needs at least two classes, not {}", classes);
  std::vector<UnrolledLayer> layers = upward(stack);
  const std::int64_t top = layers.back().shape.outputs;
  const auto options = layers.back().weights.options();
  at::Tensor weights = label_output_weights(stack.back(), classes);
  at::Tensor bias = at::zeros({classes}, options);
  if (weights.defined()) {
    bias = stack.back().parameters()["label.bias"];
  } else {
    constexpr double small = 0.01;  // classes begin about equal, so that the first steps do not undo what is there
    weights = normal(key, {top, classes}, options).mul_(small);
  }
  layers.push_back({{.inputs = top, .outputs = classes, .activation = Activation::softmax}, weights, bias});
  return assemble(layers, std::nullopt);
}

FeedForward unroll_autoencoder(const BeliefNet& net) {
  std::vector<UnrolledLayer> layers = upward(net.up);
  const std::size_t code = layers.size() - 1;
  for (std::size_t i = net.down.size(); i-- > 0;)
    layers.push_back(unroll(net.down[i], 0, upward_weights(net.down[i]).t()));
  return assemble(layers, code);
}

void take_shares(FeedForward& net, double mean_length) {
  require(mean_length > 0, "a net cannot begin with what a machine says of documents without words");
  net.set_input_form(InputForm::shares);
  at::Tensor(net.weights(0)).mul_(mean_length);
}

}  // namespace harmonium
