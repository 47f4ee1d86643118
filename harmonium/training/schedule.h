// How the learning rate changes over a run: a factor on the initial rate as a function of the update t.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace harmonium {

enum class Schedule {
  constant,     // 1
  linear,       // 1 − t/T
  sqrt,         // √(τ / (t + τ))
  inverse,      // τ / (t + τ)
  sqrt_linear,  // √(τ / (t + τ)) · (1 − t/T)
};

[[nodiscard]] const std::vector<std::pair<Schedule, std::string>>& schedules();
[[nodiscard]] std::string to_string(Schedule schedule);
[[nodiscard]] Schedule parse_schedule(const std::string& name);

// t counts from 0; `total` is the length T of the run, `tau` the time-scale of the falling schedules.
[[nodiscard]] double schedule_factor(Schedule schedule, std::int64_t t, std::int64_t total, double tau);

}  // namespace harmonium
