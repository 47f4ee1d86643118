#include "harmonium/core/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

[[noreturn]] void fail_writing(const std::filesystem::path& path, const char* what, int code) {
  throw RunFailure(format("cannot write {}: {} ({}); check the folder's permissions and free space", path.string(),
                          std::strerror(code), what));
}

[[noreturn]] void fail_reading(const std::filesystem::path& path, int code) {
  fail("cannot read {}: {}", path.string(),
       code == ELOOP ? "it is a symbolic link that leads back to itself" : std::strerror(code));
}

// In words, for what is not a regular file.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  // The process id keeps two runs that write the same file from sharing a temporary one.
  const std::filesystem::path temporary = format("{}.{}.tmp", path.string(), ::getpid());
  const auto abandon = [&](const char* what) {
    const int code = errno;
    ::unlink(temporary.c_str());
    fail_writing(path, what, code);
  };
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) fail_writing(path, "open", errno);
    for (std::string_view left = bytes; !left.empty();) {
      const ssize_t written = ::write(file.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) abandon("write");
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file.get()) != 0) abandon("fsync");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) abandon("rename");
  // Until the folder itself is on disk, a power cut may bring the old name back.
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (const Descriptor directory(folder, O_RDONLY | O_DIRECTORY); directory.get() >= 0) ::fsync(directory.get());
}

void remove_unfinished_files(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::filesystem::path name = entry.path().filename();
    const std::string process = name.stem().extension().string();  // ".1234"
    if (name.extension() != ".tmp" || process.size() < 2 ||
        process.find_first_not_of("0123456789", 1) != std::string::npos)
      continue;
    const long number = std::strtol(process.c_str() + 1, nullptr, 10);
    const bool alive = ::kill(static_cast<pid_t>(number), 0) == 0 || errno == EPERM;
    if (!alive || number == ::getpid()) std::filesystem::remove(entry.path(), ignored);
  }
}

std::string read_file(const std::filesystem::path& path, ReadBytes read) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  if (file.get() < 0) fail_reading(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_reading(path, errno);
  require(S_ISREG(status.st_mode), "cannot read {}: it is {}, not a file; {}", path.string(), kind_of(status.st_mode),
          S_ISDIR(status.st_mode) ? "name a file in it" : "write what it gives into a file and name that");
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string bytes(size, '\0');
  std::size_t done = 0;
  for (;;) {
    // One byte beyond the size shows whether the file has grown since, as a log that is being written does.
    if (done == bytes.size()) bytes.resize(done + std::max<std::size_t>(4096, done / 2));
    const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      fail("cannot read {}: {} at byte {} of {}; nothing of it was used. Copy the file to another disk and try again",
           path.string(), std::strerror(errno), done, size);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  require(done >= size, "cannot read {}: it ended at byte {}, and its size is {}; was it being written?", path.string(),
          done, size);
  bytes.resize(done);
  return bytes;
}

}  // namespace harmonium
