#include "harmonium/experiments/side_by_side.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <thread>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

extern char** environ;  // POSIX asks the program to declare it

namespace harmonium {

namespace {

namespace fs = std::filesystem;

int open_for_child(const fs::path& path, int how) {
  const int file = ::open(path.c_str(), how | O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) throw RunFailure(format("cannot write {}: {}", path.string(), std::strerror(errno)));
  return file;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Libraries that keep threads of their own look here; --threads alone does not reach all of them.
std::vector<std::string> child_environment(int threads) {
  std::vector<std::string> result = {format("OMP_NUM_THREADS={}", threads), format("OPENBLAS_NUM_THREADS={}", threads)};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("OMP_NUM_THREADS=") && !text.starts_with("OPENBLAS_NUM_THREADS=")) result.push_back(text);
  }
  return result;
}

// What an ending child says about it: from "harmonium: …" on, or its last line.
std::string last_words(const fs::path& log, std::uintmax_t begin) {
  if (!fs::exists(log)) return "";
  std::istringstream lines(read_file(log).substr(begin));
  std::string words;
  bool complaining = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string tool = "harmonium: ";
    if (line.starts_with(tool)) {
      words = line.substr(tool.size());
      complaining = true;
    } else if (complaining) {
      words += " " + line;
    } else if (!line.empty()) {
      words = line;
    }
  }
  return words;
}

}  // namespace

SideBySide::~SideBySide() {
  stop();
  for (const Running& child : running_)
    while (::waitpid(child.process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void SideBySide::start(std::size_t id, const ChildCommand& command) {
  fs::create_directories(command.log.parent_path());
  std::vector<std::string> arguments = {"harmonium"};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  arguments.insert(arguments.end(), {"--threads", std::to_string(threads_)});
  std::vector<std::string> environment = child_environment(threads_);
  const std::vector<char*> argument_pointers = pointers_to(arguments), environment_pointers = pointers_to(environment);
  const int out = open_for_child(command.out, O_TRUNC), log = open_for_child(command.log, O_APPEND);
  const std::uintmax_t log_begin = fs::file_size(command.log);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    // Only what is safe between fork and exec.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(130);  // it died before it could be watched
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execve("/proc/self/exe", argument_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  ::close(out);
  ::close(log);
  if (child < 0) throw RunFailure(format("cannot start another process: {}", std::strerror(errno)));
  running_.push_back({child, id, command.log, log_begin, std::chrono::steady_clock::now()});
}

std::optional<EndedChild> SideBySide::wait(std::chrono::milliseconds longest) {
  const auto begin = std::chrono::steady_clock::now();
  while (!running_.empty()) {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      int status = 0;
      if (::waitpid(running_[i].process, &status, WNOHANG) != running_[i].process) continue;
      const Running child = running_[i];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      EndedChild ended{.id = child.id,
                       .code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                       .message = last_words(child.log, child.log_begin)};
      if (WIFSIGNALED(status))
        ended.message = format("ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
      ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - child.start).count();
      return ended;
    }
    if (std::chrono::steady_clock::now() - begin >= longest) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return std::nullopt;
}

void SideBySide::stop() {
  if (stopped_) return;
  stopped_ = true;
  for (const Running& child : running_) ::kill(child.process, SIGINT);
}

}  // namespace harmonium
