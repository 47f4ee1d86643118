#include "harmonium/data/catalog/run_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::size_t shown_output = 1500;

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string last_lines(const std::filesystem::path& log) {
  std::string text = read_file(log);
  if (text.size() > shown_output) text = "…" + text.substr(text.find('\n', text.size() - shown_output));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "it printed nothing" : "it printed:\n" + text;
}

// Settings of a child process: its working folder, no input, all output into one file.
class FileActions {
 public:
  FileActions(const std::filesystem::path& folder, const std::filesystem::path& log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw RunFailure(format("cannot wait for a child process: {}", std::strerror(errno)));
  return status;
}

}  // namespace

void run_command(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  const auto log = std::filesystem::absolute(folder) / "command.log";
  const FileActions actions(std::filesystem::absolute(folder), log);
  std::vector<char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);

  pid_t child = 0;
  const int error = ::posix_spawnp(&child, pointers.front(), actions.get(), nullptr, pointers.data(), environ);
  if (error == ENOENT) throw ProgramMissing(format("the program '{}' is not on PATH", arguments.front()));
  if (error != 0) throw RunFailure(format("cannot start '{}': {}", join(arguments), std::strerror(error)));

  const int status = wait_for(child);
  if (WIFSIGNALED(status))
    throw RunFailure(format("'{}' was stopped by signal {} ({}); {}", join(arguments), WTERMSIG(status),
                            ::strsignal(WTERMSIG(status)), last_lines(log)));
  if (WEXITSTATUS(status) != 0)
    throw RunFailure(format("'{}' failed with status {}; {}", join(arguments), WEXITSTATUS(status), last_lines(log)));
}

}  // namespace harmonium
