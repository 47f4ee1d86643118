#include "harmonium/core/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

[[noreturn]] void fail_writing(const std::filesystem::path& path, const char* what, int code) {
  throw RunFailure(format("cannot write {}: {} ({}); check the folder's permissions and free space", path.string(),
                          std::strerror(code), what));
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

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "cannot read {}: it is a folder", path.string());
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "cannot read {}: {}", path.string(), std::strerror(errno));
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

}  // namespace harmonium
