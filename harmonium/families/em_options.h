// Options of mixtures that are trained by online EM: plain ascent (sgd) along "statistics of the batch minus those
// held". What would leave the domain of statistics is no option: other optimizers, momentum, decay, and a rate of
// biases beside the one rate.
#pragma once

#include <string>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/core/parameter_group.h"
#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"

namespace harmonium {

[[nodiscard]] std::vector<std::string> options_of_em();
// The rate: 1, which is EM, where a batch is all rows; else that of online EM.
void resolve_em(RunConfig& config, const RunData& data, std::int64_t components, double smoothing);
// One group, so that all statistics of a component move at one rate.
[[nodiscard]] std::vector<ParameterGroup> groups_of_em(const Moments& parameters);

}  // namespace harmonium
