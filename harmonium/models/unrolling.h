// From a stack of RBMs to a feed-forward net that computes the same: the start of fine-tuning.
//
// The mean of an RBM's hidden units given visible ones is an affine map and an activation: σ(b + vᵀW) for binary units,
// (b + vᵀW)/λ for Gaussian ones. So is that of the visible units given hidden ones, with W transposed. Stacked, the
// first are an encoder, the second in reverse order a decoder (Hinton & Salakhutdinov 2006), which have weights of
// their own from here on.
//
// A label in the top machine, as classification RBMs have, gives a classifier its last weights.
//
// A hidden layer of a deep Boltzmann machine hears the layer above as well, and its mean-field posterior q solves
//
//   q1 = σ(b1 + vᵀW1 + q2ᵀW2ᵀ),   q2 = σ(b2 + q1ᵀW2).
//
// A net whose input is the row and q2 side by side, [v, q2], with first weights W1 above W2ᵀ, computes q1 in its first
// layer and q2 in its second: it begins with the machine's own posterior (Salakhutdinov & Hinton 2009). From there on
// q2 is data, and the two copies of W2 go their own ways.
#pragma once

#include "harmonium/models/belief_net.h"
#include "harmonium/models/feed_forward.h"

namespace harmonium {

// A machine as a stack of RBMs: a chain of layers from the data up, which may end in a label, or a classification RBM.
// The top machine has the label. Fails for other machines.
[[nodiscard]] MachineStack stack_to_unroll(const BoltzmannMachine& machine);

// The way up: a layer for each machine. Fails for hidden softmax units, whose groups are no activation of a net.
[[nodiscard]] FeedForward unroll_encoder(const MachineStack& stack);

// The way up and a softmax over `classes`, whose weights are those between label and hidden units of the top machine
// where it has a label of that width, and small random numbers where not.
[[nodiscard]] FeedForward unroll_classifier(const MachineStack& stack, std::int64_t classes, const Key& key);

// Empty where the machine's posterior can be part of a net's input: a deep Boltzmann machine with two binary hidden
// layers. Else why it cannot.
[[nodiscard]] std::string posterior_complaint(const BoltzmannMachine& machine);
// unroll_classifier() of such a machine, on rows [v, q2].
[[nodiscard]] FeedForward unroll_with_posterior(const BoltzmannMachine& machine, std::int64_t classes, const Key& key);

// The way up and down again; the code is the top hidden layer. Fails for visible softmax units. Word counts come back
// as their shares.
[[nodiscard]] FeedForward unroll_autoencoder(const BeliefNet& net);

// An RBM on word counts hears every word of a document, a net that takes shares (InputForm::shares) none more than
// once: multiplies the weights of the first layer, so that it begins with what the machine says of documents of so many
// words.
void take_shares(FeedForward& net, double mean_length);

}  // namespace harmonium
