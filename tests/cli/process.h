// Runs a program without a shell and collects what it says.
//
// Its standard error can be watched line by line, so that a test may send a signal once the program has come so far.
// That stream is a socket with the smallest buffer the system allows: a program that runs ahead of its reader by more
// than a few lines has to wait, which keeps "kill it after line 8 of 20" from ever being too late.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;  // POSIX asks the program to declare it

namespace harmonium::testing {

struct Process {
  std::vector<std::string> command = {};
  std::filesystem::path folder = {};
  std::map<std::string, std::optional<std::string>> environment = {};  // on top of the test's own; nothing removes one
  std::optional<rlim_t> largest_file = std::nullopt;                   // bytes: writing beyond fails as on a full disk
  std::optional<rlim_t> address_space = std::nullopt;                  // bytes: asking for more fails
  std::function<void(pid_t, const std::string&)> on_error_line = [](pid_t, const std::string&) {};
};

struct Outcome {
  int code = 0;  // of exit, or minus the signal that ended it
  std::string out, err;
  std::int64_t most_memory = 0;  // bytes that were resident at once
};

namespace detail {

inline void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " failed");
}

// Reading and writing end.
inline std::array<int, 2> make_stream(bool smallest_buffer) {
  std::array<int, 2> ends{};
  if (!smallest_buffer) {
    check(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe");
    return ends;
  }
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
  const int bytes = 1;  // raised by the system to its minimum
  check(::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0, "setsockopt");
  return ends;
}

inline std::vector<std::string> full_environment(const Process& process) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!process.environment.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : process.environment)
    if (value) result.push_back(name + "=" + *value);
  return result;
}

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// False at the end of the stream.
inline bool read_some(int stream, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(stream, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  text.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace detail

inline Outcome run(const Process& process) {
  auto arguments = process.command, environment = detail::full_environment(process);
  const auto argument_pointers = detail::pointers(arguments), environment_pointers = detail::pointers(environment);
  const auto out = detail::make_stream(false), err = detail::make_stream(true);
  const pid_t child = ::fork();
  detail::check(child >= 0, "fork");
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::signal(SIGHUP, SIG_DFL);  // a test that is run under nohup would hand down its deafness
    if (process.largest_file) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{*process.largest_file, *process.largest_file};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(126);
    }
    if (process.address_space) {
      const rlimit limit{*process.address_space, *process.address_space};
      if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(126);
    }
    if (::chdir(process.folder.c_str()) == 0)
      ::execve(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);

  Outcome outcome;
  std::array<pollfd, 2> streams = {pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  std::size_t seen = 0;  // of standard error, in whole lines
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (::poll(streams.data(), streams.size(), -1) < 0) continue;
    for (pollfd& stream : streams)
      if (stream.revents != 0 && !detail::read_some(stream.fd, stream.fd == out[0] ? outcome.out : outcome.err))
        stream.fd = -1;
    for (std::size_t end; (end = outcome.err.find('\n', seen)) != std::string::npos; seen = end + 1)
      process.on_error_line(child, outcome.err.substr(seen, end - seen));
  }
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  outcome.most_memory = std::int64_t{usage.ru_maxrss} * 1024;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome;
}

}  // namespace harmonium::testing
