#include "harmonium/training/schedule.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

const std::vector<std::pair<Schedule, std::string>>& schedules() {
  static const std::vector<std::pair<Schedule, std::string>> names = {{Schedule::constant, "constant"},
                                                                      {Schedule::linear, "linear"},
                                                                      {Schedule::sqrt, "sqrt"},
                                                                      {Schedule::inverse, "inverse"},
                                                                      {Schedule::sqrt_linear, "sqrt_linear"}};
  return names;
}

std::string to_string(Schedule schedule) {
  return std::ranges::find(schedules(), schedule, &std::pair<Schedule, std::string>::first)->second;
}

Schedule parse_schedule(const std::string& name) {
  const auto it = std::ranges::find(schedules(), name, &std::pair<Schedule, std::string>::second);
  if (it != schedules().end()) return it->first;
  std::string known;
  for (const auto& [schedule, each] : schedules()) known += (known.empty() ? "" : ", ") + each;
  fail("unknown schedule '{}'; there are: {}", name, known);
}

double schedule_factor(Schedule schedule, std::int64_t t, std::int64_t total, double tau) {
  const auto time = static_cast<double>(t);
  const double falling = tau / (time + tau), to_zero = std::max(0.0, 1 - time / static_cast<double>(total));
  switch (schedule) {
    case Schedule::constant:
      return 1;
    case Schedule::linear:
      return to_zero;
    case Schedule::sqrt:
      return std::sqrt(falling);
    case Schedule::inverse:
      return falling;
    case Schedule::sqrt_linear:
      return std::sqrt(falling) * to_zero;
  }
  return 1;
}

}  // namespace harmonium
