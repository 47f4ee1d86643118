// A belief net under training by up–down (gradients/wake_sleep.h): all layers together.
#pragma once

#include <memory>

#include "harmonium/families/machine_file.h"
#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/families/trainee.h"

namespace harmonium {

// Classes of the label in the top machine; 0 where it has none.
[[nodiscard]] std::int64_t count_label_classes(const BeliefNet& net);

[[nodiscard]] std::unique_ptr<Trainee> make_up_down_trainee(const RunConfig& config, const RunData& data,
                                                            TrainedStack start);

}  // namespace harmonium
