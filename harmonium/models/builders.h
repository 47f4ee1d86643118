// The named models, as arrangements of layers and edges.
#pragma once

#include <string>

#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/classification.h"  // IWYU pragma: export

namespace harmonium {

// Restricted Boltzmann machine: an observed layer "visible" and a layer "hidden", any pair of unit types
// ("bernoulli:784", "gaussian:64", "softmax:20x21").
[[nodiscard]] BoltzmannMachine make_rbm(const std::string& visible, const std::string& hidden,
                                        at::ScalarType type = at::kFloat);

// Joint model of data and label: observed layers "visible" and "label" (one softmax group), both joined to "hidden".
[[nodiscard]] BoltzmannMachine make_classification_rbm(const std::string& visible, std::int64_t classes,
                                                       const std::string& hidden, at::ScalarType type = at::kFloat);

// Chain visible – hidden1 – hidden2 – …: a deep Boltzmann machine.
[[nodiscard]] BoltzmannMachine make_chain(const std::vector<std::string>& layers, at::ScalarType type = at::kFloat);

// The same with an observed layer "label" (one softmax group) joined to the topmost hidden one: a joint model of data
// and label.
[[nodiscard]] BoltzmannMachine make_labelled_chain(const std::vector<std::string>& layers, std::int64_t classes,
                                                   at::ScalarType type = at::kFloat);

// Markov random field without hidden units: an observed layer "visible" of discrete units, each joined to every other.
// With binary units a fully visible Boltzmann machine, with softmax groups a Potts model.
[[nodiscard]] BoltzmannMachine make_mrf(const std::string& visible, at::ScalarType type = at::kFloat);

// An RBM whose visible units are joined to each other as well.
[[nodiscard]] BoltzmannMachine make_semi_restricted(const std::string& visible, const std::string& hidden,
                                                    at::ScalarType type = at::kFloat);

// A general Boltzmann machine: every visible unit joined to every hidden one, and units of a layer to each other where
// that is asked for. Both make every pair of units joined.
struct WithinLayers {
  bool visible = true, hidden = true;
};
[[nodiscard]] BoltzmannMachine make_boltzmann(const std::string& visible, const std::string& hidden,
                                              const WithinLayers& within = {}, at::ScalarType type = at::kFloat);

// Weights ~ N(0, scale²), biases zero; observed layers get the biases (and precisions) that match `data_moments` of
// independent units where given: one list per observed layer, smoothed away from certainty.
void initialize(BoltzmannMachine& machine, const Key& key, double weight_scale,
                const std::vector<std::vector<at::Tensor>>& data_moments = {});

// Two layers of binary units and one edge from the first to the second: what has kernels of its own on a device.
[[nodiscard]] bool is_binary_rbm(const BoltzmannMachine& machine);

}  // namespace harmonium
