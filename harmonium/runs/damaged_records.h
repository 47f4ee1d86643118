// Lines of a run's records that cannot be read, in sentences for people.
#pragma once

#include <string>
#include <vector>

#include "harmonium/runs/run_folder.h"

namespace harmonium {

// Of metrics, evaluations, classifications and retrievals, each with file and line; nothing where all is well.
[[nodiscard]] std::vector<std::string> damaged_records(const RunFolder& folder);

}  // namespace harmonium
