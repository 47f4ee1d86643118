// What a machine with a label layer says about the class of a row.
//
//   log p(c | v) = log Σ_h e^{−E(v, c, h)} − log Σ_c' Σ_h e^{−E(v, c', h)}
//
// The label is one softmax group joined to hidden layers, and a class adds one row of its weights to their field. So
// the field that the other observed layers give is found once, and the classes cost (rows × classes × hidden units)
// evaluations and no further products.
#pragma once

#include <functional>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// The observed layer that holds the class: one softmax group named "label". Fails, saying what to train instead, where
// the machine has none or where it is joined to something other than hidden layers.
[[nodiscard]] std::size_t label_layer(const BoltzmannMachine& machine);

// Some rows with every class tried on them.
struct ClassesOfRows {
  std::int64_t first = 0, rows = 0, classes = 0;
  Fields fields;               // of hidden layers: (rows · classes) × width, the classes of a row together
  at::Tensor log_probability;  // log p(c | v), rows × classes, float64
};

// Visits all rows of `state` in order, in pieces that bound memory. The label in `state` is not looked at and may be
// undefined. Hidden layers may not be joined among themselves.
void for_each_class(const BoltzmannMachine& machine, const State& state,
                    const std::function<void(const ClassesOfRows&)>& visit);

// log p(label | visible) of a classification RBM, rows × classes (float64).
[[nodiscard]] at::Tensor log_label_probabilities(const BoltzmannMachine& machine, const at::Tensor& visible);

}  // namespace harmonium
