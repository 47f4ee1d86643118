#include "harmonium/gradients/mean_field_cd.h"

#include "harmonium/gradients/mean_steps.h"

namespace harmonium {

Moments MeanFieldCd::model_moments(const BoltzmannMachine& machine, const State& data, const Key&) {
  State means = data;  // layers are replaced, not written to, so the batch itself is safe
  set_to_means(machine, means, machine.hidden());
  return moments_after_mean_steps(machine, std::move(means), options_.sweeps_at(fraction_));
}

std::string MeanFieldCd::complaint(const BoltzmannMachine& machine) const {
  const std::string joined = complaint_about_joined_layers(machine);
  return joined.empty() ? complaint_about_inner_edges(machine) : joined;
}

}  // namespace harmonium
