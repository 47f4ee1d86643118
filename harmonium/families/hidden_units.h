// @hidden of families whose hidden units are of one type: a number.
#pragma once

#include "harmonium/families/run_config.h"

namespace harmonium {

// Fails where it is not a number above 0; `what` says what it counts.
[[nodiscard]] std::int64_t hidden_units(const RunConfig& config, const char* what = "hidden units");

}  // namespace harmonium
