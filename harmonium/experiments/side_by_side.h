// Commands of this tool run side by side as child processes, at most so many at once.
//
// A child is in a process group of its own, so that Ctrl-C on the terminal reaches this program alone, which passes it
// on once: every child then finishes its step, saves and ends with 130. Where this program is killed, its children get
// SIGTERM from the system and do the same.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace harmonium {

struct ChildCommand {
  std::vector<std::string> arguments;  // after the name of the tool
  std::filesystem::path out, log;      // standard output (replaced) and standard error (appended)
};

struct EndedChild {
  std::size_t id = 0;
  int code = 0;         // of exit; 128 + the signal that ended it
  std::string message;  // the last thing it said to standard error, without the name of the tool
  double seconds = 0;   // from its start
};

class SideBySide {
 public:
  // `threads` is what each child may use.
  SideBySide(int jobs, int threads) : jobs_(jobs), threads_(threads) {}
  // Asks children that are left to stop, and waits for them.
  ~SideBySide();
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;

  [[nodiscard]] int jobs() const { return jobs_; }
  [[nodiscard]] bool has_room() const { return running_.size() < static_cast<std::size_t>(jobs_); }
  [[nodiscard]] bool idle() const { return running_.empty(); }
  // `id` comes back with its end.
  void start(std::size_t id, const ChildCommand& command);
  // A child that has ended, or nothing after so long.
  [[nodiscard]] std::optional<EndedChild> wait(std::chrono::milliseconds longest);
  // Asks all children to save and end; once is enough, and the second time does nothing.
  void stop();

 private:
  struct Running {
    pid_t process = 0;
    std::size_t id = 0;
    std::filesystem::path log;
    std::uintmax_t log_begin = 0;
    std::chrono::steady_clock::time_point start;
  };

  int jobs_, threads_;
  bool stopped_ = false;
  std::vector<Running> running_;
};

}  // namespace harmonium
