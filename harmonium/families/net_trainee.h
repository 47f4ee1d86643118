// A feed-forward net under training: losses and errors on validation rows, and the best net by them. `adversarial` is
// the step of adversarial examples (training/net_loss.h); 0: none.
#pragma once

#include <memory>

#include "harmonium/families/net_file.h"
#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/families/trainee.h"

namespace harmonium {

[[nodiscard]] std::unique_ptr<Trainee> make_net_trainee(const RunConfig& config, const RunData& data, TrainedNet start,
                                                        double adversarial = 0);

}  // namespace harmonium
