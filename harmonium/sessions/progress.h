// How far a long job is: a bar that redraws on a terminal, a plain line now and then elsewhere. Written to standard
// error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace harmonium {

class ProgressBar {
 public:
  // `silent` shows nothing (for --json on a pipe that wants only the result).
  explicit ProgressBar(std::string label, bool silent = false);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `rate` is in steps per second; zero lets the bar measure it. `detail` follows the estimate of the time left.
  void show(std::int64_t done, std::int64_t total, double rate, const std::string& detail);
  // A sentence above the bar.
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  std::string label_;
  bool silent_, terminal_, drawn_ = false;
  Clock::time_point first_shown_, last_draw_;
  std::int64_t first_done_ = -1, last_line_part_ = -1;
};

}  // namespace harmonium
