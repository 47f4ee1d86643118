// What this process may use of the machine: its memory and processors, less what a control group (a container, a batch
// system), `ulimit -v` or an affinity mask leaves of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace harmonium {

[[nodiscard]] std::int64_t usable_memory();  // bytes
[[nodiscard]] int usable_processors();       // at least 1

// The limits of a control group and all above it, read from the files under `root` (/sys/fs/cgroup); `membership` is
// the text of /proc/self/cgroup. Versions 1 and 2. Nothing where there is no limit.
struct ControlGroup {
  std::optional<std::int64_t> memory = {};  // bytes
  std::optional<double> processors = {};    // processor time per time
};
[[nodiscard]] ControlGroup read_control_group(const std::filesystem::path& root, std::string_view membership);

}  // namespace harmonium
