// After which updates of a run the averaged model is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harmonium {

// The updates that `list` asks for, increasing: "none"; "100,300,1000"; "log" is 1, 3, 10, 30, … and the last update.
// Throws Error naming --snapshots where the list makes no sense or goes beyond the last update.
[[nodiscard]] std::vector<std::int64_t> snapshot_updates(const std::string& list, std::int64_t updates);

}  // namespace harmonium
