// A stack of RBMs, and the deep belief net it stands for, with a way up of its own where it has learnt one.
//
// A stack is a list of machines, each with an observed layer as wide as the hidden layer of the one below and one
// hidden layer; the top one may have a label beside its visible layer, as classification RBMs do. Its belief net is
// (Hinton, Osindero & Teh 2006), with h_0 = v and L machines,
//
//   p(v, h_1, …, h_L) = p_1(v | h_1) p_2(h_1 | h_2) … p_{L−1}(h_{L−2} | h_{L−1}) p_L(h_{L−1}, h_L):
//
// the top machine undirected, all others used downwards only. The way up, q(h_l | h_{l−1}) = p_l(h_l | h_{l−1}), is
// exact for the top machine and an approximation of the posterior elsewhere.
//
// Untied (wake–sleep; gradients/wake_sleep.h), the way up has weights of its own: q(h_l | h_{l−1}) = r_l(h_l | h_{l−1})
// with machines r_1, …, r_{L−1} beside p_1, …, p_{L−1}. A conditional of an RBM does not depend on the biases of the
// side that is given, so those of h_l in p_l and of h_{l−1} in r_l mean nothing and nothing changes them.
#pragma once

#include <vector>

#include "harmonium/core/parameter_group.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

using MachineStack = std::vector<BoltzmannMachine>;

// Fails, saying what is wrong, where the machines do not stand on each other as described above.
void require_stack(const MachineStack& stack);

// A belief net as two stacks: machines for the way down and for the way up. The last of both is the top machine.
struct BeliefNet {
  // Tied: the same machines both ways. Implicit: a stack is a belief net.
  BeliefNet(MachineStack stack) : down(stack), up(std::move(stack)) {}  // NOLINT(google-explicit-constructor)
  // Untied: `recognition` has a machine for every one of `stack` but the top one, with the same layers. Where it is
  // empty the net is tied.
  BeliefNet(MachineStack stack, MachineStack recognition);

  MachineStack down, up;
  bool tied = true;

  [[nodiscard]] const BoltzmannMachine& top() const { return down.back(); }
  [[nodiscard]] bool labelled() const { return top().observed().size() == 2; }
};
void require_belief_net(const BeliefNet& net);

// A copy with recognition machines of its own, which begin as the machines of the way down where the net is tied.
[[nodiscard]] BeliefNet untied(const BeliefNet& net);

// All parameters of an untied net in one list: "machine1/visible.bias", … from the bottom up, then "recognition1/…".
// Tensors are shared with the net's.
[[nodiscard]] Moments parameters_of(const BeliefNet& net);
// The same net under such parameters (shared, not copied).
[[nodiscard]] BeliefNet with_parameters(const BeliefNet& net, const Moments& parameters);
// Those of all its machines, with the names that parameters_of() gives.
[[nodiscard]] std::vector<ParameterGroup> groups_of(const BeliefNet& net);

// A copy whose machines are on `device`.
[[nodiscard]] BeliefNet moved_to(const BeliefNet& net, at::Device device);

// A chain of layers (a deep Boltzmann machine, an RBM) as a stack: an RBM for every edge, with the weights of the edge
// and the biases of its layers. The two are different models: a layer inside a chain hears both neighbours, on the way
// up of a stack only the one below. Good to begin a net with. Fails where the layers are no chain from the data up.
[[nodiscard]] MachineStack stack_of_chain(const BoltzmannMachine& chain);

// A state of one machine with the given values in one layer and zeros in all others. A label of zeros adds nothing to
// hidden units: that is how the way up passes a label that is not known.
[[nodiscard]] State state_with(const BoltzmannMachine& machine, std::size_t layer, const at::Tensor& values);

// Means of the hidden units of every machine, each given the means below: rows × width.
[[nodiscard]] std::vector<at::Tensor> up_means(const MachineStack& stack, const at::Tensor& visible);
// Those means and down again by means, through the top machine: rows × visible units.
[[nodiscard]] at::Tensor reconstruct(const BeliefNet& net, const at::Tensor& visible);
// A draw of h_1, …, h_{L−1} from q, each given the draw below: what the top machine has for its visible units is last.
// Nothing for one machine.
[[nodiscard]] std::vector<at::Tensor> up_sample(const MachineStack& stack, const at::Tensor& visible, const Key& key);

// From visible units h_{L−1} of the top machine down to h_1, each drawn given the one above. For at least two machines;
// for two, it is what was given.
[[nodiscard]] at::Tensor down_sample(const MachineStack& stack, const at::Tensor& top_visible, const Key& key);
// The same down to the data: v, h_1, …, h_{L−1}, the last as given.
[[nodiscard]] std::vector<at::Tensor> dream(const MachineStack& stack, const at::Tensor& top_visible, const Key& key);

// A state of a machine of the stack with values in its visible and its hidden layer.
[[nodiscard]] State joined_state(const BoltzmannMachine& machine, const at::Tensor& lower, const at::Tensor& upper);
// log p(x_layer | all other layers) of each row (float64), for a layer without an edge inside.
[[nodiscard]] at::Tensor log_conditional(const BoltzmannMachine& machine, std::size_t layer, const State& state);

// log p(c | v) of a net with a label, rows × classes (float64): by the top machine's free energies given the means of
// the way up.
[[nodiscard]] at::Tensor log_label_probabilities(const BeliefNet& net, const at::Tensor& visible);

// The field of the data's units given h_1.
[[nodiscard]] at::Tensor visible_field(const MachineStack& stack, const at::Tensor& first_hidden);

}  // namespace harmonium
