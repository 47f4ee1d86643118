// What a machine with a label layer says about the class of rows.
//
// log p(c | v) in closed form where hidden layers share no edge (models/classification.h). Else every class is tried:
// mean field bounds log Σ_hidden e^{−E(v, c, hidden)} from below, and the bounds of all classes, normalized, stand for
// log p(c | v). Cost: an inference for each row and class.
#pragma once

#include "harmonium/inference/mean_field.h"

namespace harmonium {

// rows × classes, float64; exponentials of a row sum to one.
[[nodiscard]] at::Tensor infer_labels(const BoltzmannMachine& machine, const at::Tensor& visible,
                                      const MeanFieldOptions& options = {});

}  // namespace harmonium
