// A feed-forward net under training: losses and errors on validation rows, and the best net by them.
#pragma once

#include <memory>

#include "harmonium/families/net_file.h"
#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/families/trainee.h"

namespace harmonium {

[[nodiscard]] std::unique_ptr<Trainee> make_net_trainee(const RunConfig& config, const RunData& data, TrainedNet start);

}  // namespace harmonium
