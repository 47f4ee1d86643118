// A deep Boltzmann machine's posterior as a part of a net's input: [v, q(h2 | v)] (models/unrolling.h).
//
// q is the mean field of the machine given the row alone; a label, which is not known, adds nothing. It is found once
// for every row and then is data.
#pragma once

#include "harmonium/families/run_data.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Units of the second hidden layer: how many columns are added. The machine must have no posterior_complaint().
[[nodiscard]] std::int64_t posterior_width(const BoltzmannMachine& machine);
// Rows with q(h2 | v) beside them: rows × (visible + second hidden units), where the rows are.
[[nodiscard]] at::Tensor with_posterior(const BoltzmannMachine& machine, const at::Tensor& rows);
// The same for data, as float32, computed on `device` in pieces. Where values are thresholded they are so before; drawn
// values are none that a posterior could be found of beforehand.
[[nodiscard]] RunData with_posterior(const BoltzmannMachine& machine, const RunData& data, const at::Device& device);

}  // namespace harmonium
