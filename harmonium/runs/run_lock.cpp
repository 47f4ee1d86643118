#include "harmonium/runs/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_locked(const RunFolder& folder) {
  std::string owner;
  try {
    owner = read_file(folder.lock());
  } catch (const Error&) {
    // It has ended this moment, or may not be read.
  }
  const std::string process = owner.substr(0, owner.find(' '));
  if (process.empty())
    fail("{}: another process trains in this folder; wait for its end, or give another folder", folder.string());
  fail(
      "{}: process {} trains in this folder; wait for its end, stop it (`kill {}`: it saves and ends, and `harmonium "
      "resume {}` goes on), or give another folder",
      folder.string(), owner, process, folder.string());
}

std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return format("{} on {}", ::getpid(), host[0] == '\0' ? "this machine" : host.data());
}

}  // namespace

class RunLock::Held {
 public:
  explicit Held(const RunFolder& folder) : path_(folder.lock()) {
    folder.create();
    for (;;) {
      file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (file_ < 0)
        throw RunFailure(format("cannot write {}: {}; check the folder's permissions and free space", path_.string(),
                                std::strerror(errno)));
      if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
        const bool busy = errno == EWOULDBLOCK;
        ::close(file_);
        if (busy) fail_locked(folder);
        file_ = -1;  // a file system without locks
        return;
      }
      // The one before may have removed the file between open and lock.
      struct stat open_file {};
      struct stat named {};
      if (::fstat(file_, &open_file) == 0 && ::stat(path_.c_str(), &named) == 0 && open_file.st_ino == named.st_ino)
        break;
      ::close(file_);
    }
    const std::string owner = this_process();  // a courtesy: that it cannot be written is no reason to stop
    if (::ftruncate(file_, 0) == 0) (void)!::write(file_, owner.data(), owner.size());
  }
  ~Held() {
    if (file_ < 0) return;
    ::unlink(path_.c_str());
    ::close(file_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  fs::path path_;
  int file_ = -1;
};

RunLock::RunLock(const RunFolder& folder) {
  static std::mutex guard;
  static std::map<fs::path, std::weak_ptr<Held>> all;
  const std::lock_guard lock(guard);
  std::weak_ptr<Held>& known = all[fs::weakly_canonical(fs::absolute(folder.path()))];
  held_ = known.lock();
  if (held_ != nullptr) return;
  held_ = std::make_shared<Held>(folder);
  known = held_;
}

void require_unlocked(const RunFolder& folder) {
  const int file = ::open(folder.lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const bool busy = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  if (busy) fail_locked(folder);
}

}  // namespace harmonium
