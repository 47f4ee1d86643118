// A stack of RBMs, and the deep belief net it stands for.
//
// A stack is a list of machines, each with an observed layer as wide as the hidden layer of the one below and one
// hidden layer; the top one may have a label beside its visible layer, as classification RBMs do. Its belief net is
// (Hinton, Osindero & Teh 2006), with h_0 = v and L machines,
//
//   p(v, h_1, …, h_L) = p_1(v | h_1) p_2(h_1 | h_2) … p_{L−1}(h_{L−2} | h_{L−1}) p_L(h_{L−1}, h_L):
//
// the top machine undirected, all others used downwards only. The way up, q(h_l | h_{l−1}) = p_l(h_l | h_{l−1}), is
// exact for the top machine and an approximation of the posterior elsewhere.
#pragma once

#include <vector>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

using MachineStack = std::vector<BoltzmannMachine>;

// Fails, saying what is wrong, where the machines do not stand on each other as described above.
void require_stack(const MachineStack& stack);

// A chain of layers (a deep Boltzmann machine, an RBM) as a stack: an RBM for every edge, with the weights of the edge
// and the biases of its layers. The two are different models: a layer inside a chain hears both neighbours, on the way
// up of a stack only the one below. Good to begin a net with. Fails where the layers are no chain from the data up.
[[nodiscard]] MachineStack stack_of_chain(const BoltzmannMachine& chain);

// A state of one machine with the given values in one layer and zeros in all others. A label of zeros adds nothing to
// hidden units: that is how the way up passes a label that is not known.
[[nodiscard]] State state_with(const BoltzmannMachine& machine, std::size_t layer, const at::Tensor& values);

// Means of the hidden units of every machine, each given the means below: rows × width.
[[nodiscard]] std::vector<at::Tensor> up_means(const MachineStack& stack, const at::Tensor& visible);
// A draw of h_1, …, h_{L−1} from q, each given the draw below: what the top machine has for its visible units is last.
// Nothing for one machine.
[[nodiscard]] std::vector<at::Tensor> up_sample(const MachineStack& stack, const at::Tensor& visible, const Key& key);

// From visible units h_{L−1} of the top machine down to h_1, each drawn given the one above. For at least two machines;
// for two, it is what was given.
[[nodiscard]] at::Tensor down_sample(const MachineStack& stack, const at::Tensor& top_visible, const Key& key);
// The field of the data's units given h_1.
[[nodiscard]] at::Tensor visible_field(const MachineStack& stack, const at::Tensor& first_hidden);

}  // namespace harmonium
