// From a stack of RBMs to a feed-forward net that computes the same: the start of fine-tuning.
//
// The mean of an RBM's hidden units given visible ones is an affine map and an activation: σ(b + vᵀW) for binary units,
// (b + vᵀW)/λ for Gaussian ones. So is that of the visible units given hidden ones, with W transposed. Stacked, the
// first are an encoder, the second in reverse order a decoder (Hinton & Salakhutdinov 2006), which have weights of
// their own from here on.
//
// A label in the top machine, as classification RBMs have, gives a classifier its last weights.
#pragma once

#include "harmonium/models/belief_net.h"
#include "harmonium/models/feed_forward.h"

namespace harmonium {

// The way up: a layer for each machine. Fails for hidden softmax units, whose groups are no activation of a net.
[[nodiscard]] FeedForward unroll_encoder(const MachineStack& stack);

// The way up and a softmax over `classes`, whose weights are those between label and hidden units of the top machine
// where it has a label of that width, and small random numbers where not.
[[nodiscard]] FeedForward unroll_classifier(const MachineStack& stack, std::int64_t classes, const Key& key);

// The way up and down again; the code is the top hidden layer. Fails for visible softmax units. Word counts come back
// as their shares.
[[nodiscard]] FeedForward unroll_autoencoder(const BeliefNet& net);

// An RBM on word counts hears every word of a document, a net that takes shares (InputForm::shares) none more than
// once: multiplies the weights of the first layer, so that it begins with what the machine says of documents of so many
// words.
void take_shares(FeedForward& net, double mean_length);

}  // namespace harmonium
