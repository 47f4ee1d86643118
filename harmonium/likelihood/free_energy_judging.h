// Which estimate of log Z to make for a free-energy model: exact where it is known and cheap, else AIS with HMC between
// bounds, as likelihood/judging.h does for Boltzmann machines.
#pragma once

#include "harmonium/likelihood/judging.h"
#include "harmonium/models/free_energy_model.h"

namespace harmonium {

// Fails where options do not apply to such a model: there are auto, exact, ais, raise and sandwich, from a Gaussian
// base in even steps.
void check_for_energies(const EstimationOptions& options);

// exact, ais, raise, sandwich or auto (a sandwich that grows): what `options` come to for this model.
[[nodiscard]] std::string method_for(const EstimationOptions& options, const FreeEnergyModel& model);

// Whether an answer was found in the way that `options` ask for.
[[nodiscard]] bool found_the_same_way(const Evaluation& old, const EstimationOptions& options,
                                      const FreeEnergyModel& model);

// `rows` (undefined: none) of data are what RAISE starts at, and half of the chains that reverse AIS begins at.
// `journal` may be null. Fails where Z is infinite.
[[nodiscard]] Findings find_log_z(const FreeEnergyModel& model, const Moments& theta, const at::Tensor& rows,
                                  const EstimationOptions& options, Watcher& watcher, Journal* journal);

}  // namespace harmonium
