#include "harmonium/models/unrolling.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
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

MachineStack stack_to_unroll(const BoltzmannMachine& machine) {
  if (machine.observed().size() < 2) return stack_of_chain(machine);
  if (machine.hidden().size() == 1) return {machine};  // a classification RBM
  const std::size_t label = machine.layers().size() - 1;
  const std::vector<EdgeInfo>& edges = machine.topology().edges;
  bool in_order = machine.observed() == LayerSet{0, label} && edges.size() == label;
  for (std::size_t i = 0; i < edges.size(); ++i) in_order = in_order && edges[i].lower == i && edges[i].upper == i + 1;
  require(in_order, "the layers of the machine are no chain from the data up to a label");
  // Without the label it is a chain; the label then stands beside the visible layer of the top RBM.
  std::vector<std::string> specs;
  for (std::size_t i = 0; i < label; ++i) specs.push_back(machine.unit(i).spec());
  BoltzmannMachine chain = make_chain(specs, machine.scalar_type());
  for (const auto& [name, value] : chain.parameters().entries()) value.copy_(machine.parameters()[name]);
  MachineStack stack = stack_of_chain(chain);
  const BoltzmannMachine& plain = stack.back();
  BoltzmannMachine top = make_classification_rbm(plain.unit(0).spec(), machine.unit(label).width(),
                                                 plain.unit(1).spec(), machine.scalar_type());
  for (const auto& [name, value] : plain.parameters().entries()) top.parameters()[name].copy_(value);
  top.parameters()["label.bias"].copy_(machine.layer_parameters(label)[0]);
  top.parameters()["label_hidden.weights"].copy_(machine.parameters()[edges.back().weights].t());
  stack.back() = std::move(top);
  return stack;
}

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

std::string posterior_complaint(const BoltzmannMachine& machine) {
  if (machine.hidden().size() != 2)
    return format("it has {} hidden layers, and a posterior is an input for machines with two",
                  machine.hidden().size());
  for (const std::size_t layer : machine.hidden())
    if (machine.unit(layer).activation() != Activation::logistic)
      return format("layer '{}' has units '{}', and must be binary", machine.layers()[layer].name,
                    machine.unit(layer).spec());
  try {
    (void)stack_to_unroll(machine);
  } catch (const Error& error) {
    return error.marked();
  }
  return {};
}

FeedForward unroll_with_posterior(const BoltzmannMachine& machine, std::int64_t classes, const Key& key) {
  const std::string complaint = posterior_complaint(machine);
  require(complaint.empty(), "the machine's posterior cannot be an input: {}", complaint);
  const FeedForward plain = unroll_classifier(stack_to_unroll(machine), classes, key);
  std::vector<DenseLayer> layers = plain.layers();
  layers[0].inputs += layers[1].outputs;
  FeedForward net(std::move(layers), std::nullopt, plain.weights(0).scalar_type());
  for (const auto& [name, value] : net.parameters().entries())
    if (value.sizes() == plain.parameters()[name].sizes()) value.copy_(plain.parameters()[name]);
  at::Tensor(net.weights(0)).copy_(at::cat({plain.weights(0), plain.weights(1).t()}));
  return net;
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
