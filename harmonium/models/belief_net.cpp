#include "harmonium/models/belief_net.h"

#include "harmonium/core/error.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/classification.h"

namespace harmonium {

namespace {

// Field of one layer given values of another and nothing else.
at::Tensor field_given(const BoltzmannMachine& machine, std::size_t layer, std::size_t given,
                       const at::Tensor& values) {
  return machine.field(layer, state_with(machine, given, values));
}

std::string machine_place(std::size_t i) { return format("machine{}/", i + 1); }
std::string recognition_place(std::size_t i) { return format("recognition{}/", i + 1); }

// Visits every machine of an untied net once, the top one among those of the way down.
template <class Visit>
void visit_machines(const BeliefNet& net, Visit&& visit) {
  for (std::size_t i = 0; i < net.down.size(); ++i) visit(machine_place(i), net.down[i]);
  for (std::size_t i = 0; i + 1 < net.up.size(); ++i) visit(recognition_place(i), net.up[i]);
}

}  // namespace

void require_stack(const MachineStack& stack) {
  require(!stack.empty(), "a stack needs at least one machine");
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const BoltzmannMachine& machine = stack[i];
    const LayerSet observed = machine.observed();
    const std::size_t labels = observed.size() == 2 && machine.layers()[observed[1]].name == "label" ? 1 : 0;
    require(machine.hidden().size() == 1 && observed.size() == 1 + labels && observed[0] == 0,
            "machine {} of a stack must have one visible and one hidden layer, and at most a label beside them", i + 1);
    require(machine.inner_edge(0) == nullptr && machine.inner_edge(machine.hidden().front()) == nullptr,
            "machine {} of a stack has edges inside a layer, whose units do not stand by themselves", i + 1);
    require(labels == 0 || i + 1 == stack.size(), "machine {} of a stack has a label, and only the top one may", i + 1);
    if (i == 0) continue;
    const Unit& below = stack[i - 1].unit(stack[i - 1].hidden().front());
    require(machine.unit(0).spec() == below.spec(),
            "machine {} of a stack has visible units '{}', the machine below has hidden units '{}'; they must be the "
            "same",
            i + 1, machine.unit(0).spec(), below.spec());
  }
}

BeliefNet::BeliefNet(MachineStack stack, MachineStack recognition) : down(std::move(stack)) {
  require(!down.empty(), "a belief net needs at least one machine");
  require(recognition.empty() || recognition.size() + 1 == down.size(),
          "a belief net of {} machines has {} for a way up of its own; it needs one for each but the top one",
          down.size(), recognition.size());
  tied = recognition.empty();
  up = tied ? down : std::move(recognition);
  if (!tied) up.push_back(down.back());
}

void require_belief_net(const BeliefNet& net) {
  require_stack(net.down);
  if (net.tied) return;
  for (std::size_t i = 0; i + 1 < net.down.size(); ++i)
    for (const std::size_t layer : {std::size_t{0}, net.down[i].hidden().front()})
      require(layer < net.up[i].layers().size() && net.up[i].unit(layer).spec() == net.down[i].unit(layer).spec(),
              "machine {} of the way up does not have the layers of the one of the way down", i + 1);
  require_stack(net.up);
}

BeliefNet untied(const BeliefNet& net) {
  require_belief_net(net);
  MachineStack down, up;
  for (const BoltzmannMachine& machine : net.down)
    down.push_back(machine.with_parameters(machine.parameters().clone()));
  for (std::size_t i = 0; i + 1 < net.up.size(); ++i)
    up.push_back(net.up[i].with_parameters(net.up[i].parameters().clone()));
  return {std::move(down), std::move(up)};
}

Moments parameters_of(const BeliefNet& net) {
  Moments all;
  visit_machines(net, [&](const std::string& place, const BoltzmannMachine& machine) {
    for (const auto& [name, value] : machine.parameters().entries()) all.insert(place + name, value);
  });
  return all;
}

BeliefNet with_parameters(const BeliefNet& net, const Moments& parameters) {
  MachineStack machines;
  visit_machines(net, [&](const std::string& place, const BoltzmannMachine& machine) {
    Moments own;
    for (const auto& [name, value] : machine.parameters().entries()) own.insert(name, parameters[place + name]);
    machines.push_back(machine.with_parameters(std::move(own)));
  });
  const auto middle = machines.begin() + static_cast<std::ptrdiff_t>(net.down.size());
  return {MachineStack(machines.begin(), middle), MachineStack(middle, machines.end())};
}

std::vector<ParameterGroup> groups_of(const BeliefNet& net) {
  std::vector<ParameterGroup> all;
  visit_machines(net, [&](const std::string& place, const BoltzmannMachine& machine) {
    for (ParameterGroup group : groups_of(machine.topology())) {
      for (std::string& name : group.names) name = place + name;
      all.push_back(std::move(group));
    }
  });
  return all;
}

MachineStack stack_of_chain(const BoltzmannMachine& chain) {
  const std::vector<EdgeInfo>& edges = chain.topology().edges;
  bool in_order = chain.observed() == LayerSet{0} && edges.size() + 1 == chain.layers().size();
  for (std::size_t i = 0; i < edges.size(); ++i) in_order = in_order && edges[i].lower == i && edges[i].upper == i + 1;
  require(in_order, "the layers of the machine are no chain from the data up, so it cannot be taken for a stack");
  MachineStack stack;
  for (const EdgeInfo& edge : edges) {
    BoltzmannMachine machine =
        make_rbm(chain.unit(edge.lower).spec(), chain.unit(edge.upper).spec(), chain.scalar_type());
    machine.parameters()[machine.topology().edges[0].weights].copy_(chain.parameters()[edge.weights]);
    for (const auto& [place, layer] : {std::pair{std::size_t{0}, edge.lower}, {std::size_t{1}, edge.upper}}) {
      const Unit::Parameters values = chain.layer_parameters(layer);
      const std::vector<std::string>& names = machine.topology().layers[place].parameters;
      for (std::size_t i = 0; i < names.size(); ++i) machine.parameters()[names[i]].copy_(values[i]);
    }
    stack.push_back(std::move(machine));
  }
  return stack;
}

BeliefNet moved_to(const BeliefNet& net, at::Device device) {
  BeliefNet result = net;
  for (MachineStack* stack : {&result.down, &result.up})
    for (BoltzmannMachine& machine : *stack) machine = machine.to(at::TensorOptions().device(device));
  return result;
}

State state_with(const BoltzmannMachine& machine, std::size_t layer, const at::Tensor& values) {
  State state;
  for (std::size_t i = 0; i < machine.layers().size(); ++i)
    state.layers.push_back(i == layer ? values.to(machine.options())
                                      : at::zeros({values.size(0), machine.unit(i).width()}, machine.options()));
  return state;
}

std::vector<at::Tensor> up_means(const MachineStack& stack, const at::Tensor& visible) {
  std::vector<at::Tensor> layers;
  for (const BoltzmannMachine& machine : stack) {
    const std::size_t hidden = machine.hidden().front();
    const at::Tensor field = field_given(machine, hidden, 0, layers.empty() ? visible : layers.back());
    layers.push_back(machine.unit(hidden).mean(field, machine.layer_parameters(hidden)));
  }
  return layers;
}

at::Tensor reconstruct(const BeliefNet& net, const at::Tensor& visible) {
  at::Tensor values = up_means(net.up, visible).back();
  for (std::size_t i = net.down.size(); i-- > 0;) {
    const BoltzmannMachine& machine = net.down[i];
    values =
        machine.unit(0).mean(field_given(machine, 0, machine.hidden().front(), values), machine.layer_parameters(0));
  }
  return values;
}

std::vector<at::Tensor> up_sample(const MachineStack& stack, const at::Tensor& visible, const Key& key) {
  std::vector<at::Tensor> layers;
  for (std::size_t i = 0; i + 1 < stack.size(); ++i) {
    const std::size_t hidden = stack[i].hidden().front();
    const at::Tensor field = field_given(stack[i], hidden, 0, layers.empty() ? visible : layers.back());
    layers.push_back(stack[i].unit(hidden).sample(key.fold_in(i), field, stack[i].layer_parameters(hidden)));
  }
  return layers;
}

at::Tensor down_sample(const MachineStack& stack, const at::Tensor& top_visible, const Key& key) {
  require(stack.size() >= 2, "a belief net of one machine has no way down to its first hidden layer");
  at::Tensor values = top_visible;
  for (std::size_t i = stack.size() - 2; i > 0; --i) {
    const BoltzmannMachine& machine = stack[i];
    const at::Tensor field = field_given(machine, 0, machine.hidden().front(), values);
    values = machine.unit(0).sample(key.fold_in(i), field, machine.layer_parameters(0));
  }
  return values;
}

std::vector<at::Tensor> dream(const MachineStack& stack, const at::Tensor& top_visible, const Key& key) {
  std::vector<at::Tensor> layers(stack.size());
  layers.back() = top_visible;
  for (std::size_t i = stack.size() - 1; i-- > 0;) {
    const at::Tensor field = field_given(stack[i], 0, stack[i].hidden().front(), layers[i + 1]);
    layers[i] = stack[i].unit(0).sample(key.fold_in(i), field, stack[i].layer_parameters(0));
  }
  return layers;
}

State joined_state(const BoltzmannMachine& machine, const at::Tensor& lower, const at::Tensor& upper) {
  State state = state_with(machine, 0, lower);
  state.layers[machine.hidden().front()] = upper.to(machine.options());
  return state;
}

at::Tensor log_conditional(const BoltzmannMachine& machine, std::size_t layer, const State& state) {
  return machine.log_potential(state) - machine.log_sum_out(state, {layer});
}

at::Tensor log_label_probabilities(const BeliefNet& net, const at::Tensor& visible) {
  require(net.labelled(), "a belief net without a label knows no classes");
  if (net.up.size() == 1) return log_label_probabilities(net.top(), visible.to(net.top().options()));
  return log_label_probabilities(net.top(), up_means(net.up, visible)[net.up.size() - 2]);
}

at::Tensor visible_field(const MachineStack& stack, const at::Tensor& first_hidden) {
  return field_given(stack.front(), 0, stack.front().hidden().front(), first_hidden);
}

}  // namespace harmonium
