// Runs to lay side by side: read from their folders, and shown on a terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harmonium/report/comparison.h"

namespace harmonium {

// Named by their last folder, or by the whole path where two would have the same name. A folder that is no run is an
// error that says what to do.
[[nodiscard]] std::vector<ComparedRun> read_compared_runs(const std::vector<std::string>& folders);

// One line per answer, and for runs without one the command that would judge them.
[[nodiscard]] std::string likelihood_table(const std::vector<ComparedRun>& runs);
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<ComparedRun>& runs);

}  // namespace harmonium
