#include "harmonium/core/machine_limits.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <thread>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

// The whole number a limit begins with; nothing for "max" and for -1, which mean none.
std::optional<std::int64_t> limit_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 ? std::optional(value) : std::nullopt;
}

template <class Number>
void take_less(std::optional<Number>& limit, const std::optional<Number>& other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

// Calls visit for the folder of a group and every folder above it up to `top`. A container may see its own group as
// the top one, whatever its name outside.
void visit_groups(const fs::path& top, std::string_view group, const std::function<void(const fs::path&)>& visit) {
  const std::string relative(group.substr(std::min(group.size(), group.find_first_not_of('/'))));
  for (fs::path path = relative; !path.empty(); path = path.parent_path()) visit(top / path);
  visit(top);
}

}  // namespace

ControlGroup read_control_group(const fs::path& root, std::string_view membership) {
  ControlGroup limits;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {  // "4:memory:/group", "0::/group"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = format(",{},", line.substr(first + 1, second - first - 1));
    const std::string group = line.substr(second + 1);
    if (controllers == ",,")
      visit_groups(root, group, [&](const fs::path& folder) {
        take_less(limits.memory, limit_in(text_of(folder / "memory.max")));
        const std::string quota = text_of(folder / "cpu.max");  // "150000 100000"
        const std::size_t space = quota.find(' ');
        if (space == std::string::npos) return;
        const std::optional<std::int64_t> used = limit_in(quota), period = limit_in(quota.substr(space + 1));
        if (used && period)
          take_less(limits.processors, std::optional(static_cast<double>(*used) / static_cast<double>(*period)));
      });
    if (controllers.find(",memory,") != std::string::npos)
      visit_groups(root / "memory", group, [&](const fs::path& folder) {
        take_less(limits.memory, limit_in(text_of(folder / "memory.limit_in_bytes")));
      });
    if (controllers.find(",cpu,") != std::string::npos)
      visit_groups(root / controllers.substr(1, controllers.size() - 2), group, [&](const fs::path& folder) {
        const std::optional<std::int64_t> used = limit_in(text_of(folder / "cpu.cfs_quota_us")),
                                          period = limit_in(text_of(folder / "cpu.cfs_period_us"));
        if (used && period)
          take_less(limits.processors, std::optional(static_cast<double>(*used) / static_cast<double>(*period)));
      });
  }
  return limits;
}

std::int64_t usable_memory() {
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page > 0) memory = std::int64_t{pages} * page;
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    memory = std::min(memory, static_cast<std::int64_t>(
                                  std::min<std::uint64_t>(space.rlim_cur, std::numeric_limits<std::int64_t>::max())));
  const ControlGroup group = read_control_group("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
  return std::min(memory, group.memory.value_or(memory));
}

int usable_processors() {
  int count = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) == 0) count = std::min(count, std::max(1, CPU_COUNT(&mine)));
  const ControlGroup group = read_control_group("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
  // A quota of one and a half is used by two threads that wait a quarter of their time; one would waste a third.
  if (group.processors) count = std::min(count, std::max(1, static_cast<int>(std::ceil(*group.processors))));
  return count;
}

}  // namespace harmonium
