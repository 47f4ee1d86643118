#include "harmonium/runs/run_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "harmonium/core/error.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

// Another process that holds the lock of a folder until it is killed.
class Holder {
 public:
  explicit Holder(const RunFolder& folder) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
    process = ::fork();
    if (process == 0) {
      const RunLock lock(folder);
      (void)!::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void kill() {
    if (process <= 0) return;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    process = 0;
  }
  ~Holder() { kill(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  pid_t process = 0;
};

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunLock, OfAnotherProcessIsRefusedWithItsNumberAndWhatToDo) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  const Holder holder(run);
  for (const auto& work : {std::function<void()>([&] { const RunLock lock(run); }),
                           std::function<void()>([&] { require_unlocked(run); })}) {
    const std::string message = refusal(work);
    for (const std::string& part : {run.string(), "process " + std::to_string(holder.process), std::string("resume")})
      EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
  }
}

TEST(RunLock, EndsWithAProcessThatWasKilled) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  Holder holder(run);
  holder.kill();
  EXPECT_TRUE(std::filesystem::exists(run.lock())) << "nobody was left to remove it";
  EXPECT_EQ(refusal([&] { require_unlocked(run); }), "");
  EXPECT_EQ(refusal([&] { const RunLock lock(run); }), "");
  EXPECT_FALSE(std::filesystem::exists(run.lock()));
}

TEST(RunLock, IsOneLockHoweverOftenAProcessTakesIt) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  {
    const RunLock outer(run);
    { const RunLock inner(RunFolder(folder.path() / "." / "run")); }
    EXPECT_TRUE(std::filesystem::exists(run.lock())) << "the inner one gave it away";
  }
  EXPECT_FALSE(std::filesystem::exists(run.lock()));
}

}  // namespace
}  // namespace harmonium
