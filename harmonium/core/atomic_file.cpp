#include "harmonium/core/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

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

// Whether `path` still names the open file.
bool names_open_file(const std::filesystem::path& path, int fd) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(fd, &open_file) == 0 && ::stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

// False with errno set.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Until a folder is on disk, a power cut may bring back the old names in it. File systems that cannot sync folders say
// EINVAL or ENOTSUP, and there is nothing to be done about that.
bool sync_folder(const std::filesystem::path& folder) {
  const Descriptor directory(folder, O_RDONLY | O_DIRECTORY);
  if (directory.get() < 0) return errno == EACCES;  // may be written, not listed
  return ::fsync(directory.get()) == 0 || errno == EINVAL || errno == ENOTSUP;
}

std::filesystem::path parent_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// NAME.1234.tmp
bool is_temporary(const std::filesystem::path& path) {
  const std::filesystem::path name = path.filename();
  const std::string process = name.stem().extension().string();  // ".1234"
  return name.extension() == ".tmp" && process.size() >= 2 &&
         process.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  // The process id keeps two runs that write the same file from sharing a temporary one. Who writes it holds its lock,
  // which ends with the process: a temporary file without a lock is nobody's (remove_unfinished_files).
  const std::filesystem::path temporary = format("{}.{}.tmp", path.string(), ::getpid());
  const auto abandon = [&](const char* what) {
    const int code = errno;
    ::unlink(temporary.c_str());
    fail_writing(path, what, code);
  };
  for (;;) {
    const Descriptor file(temporary, O_WRONLY | O_CREAT);
    if (file.get() < 0) fail_writing(path, "open", errno);
    const bool locked = ::flock(file.get(), LOCK_EX) == 0;            // where there are no locks, it works as well
    if (locked && !names_open_file(temporary, file.get())) continue;  // somebody tidied up between open and lock
    if (::ftruncate(file.get(), 0) != 0) abandon("truncate");
    if (!write_all(file.get(), bytes)) abandon("write");
    if (::fsync(file.get()) != 0) abandon("fsync");
    if (::rename(temporary.c_str(), path.c_str()) != 0) abandon("rename");
    break;
  }
  if (!sync_folder(parent_of(path))) fail_writing(path, "fsync of its folder", errno);
}

void append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file.get() < 0) fail_writing(path, "open", errno);
  if (!write_all(file.get(), bytes)) fail_writing(path, "write", errno);
}

void sync_file(const std::filesystem::path& path) {
  const Descriptor file(path, O_WRONLY);
  if (file.get() < 0) fail_writing(path, "open", errno);
  if (::fsync(file.get()) != 0) fail_writing(path, "fsync", errno);
}

void create_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::filesystem::path> missing;  // from the innermost
  for (std::filesystem::path each = folder; !each.empty() && !std::filesystem::is_directory(each, failure);
       each = each.parent_path())
    missing.push_back(each);
  for (; !missing.empty(); missing.pop_back()) {
    std::filesystem::create_directory(missing.back(), failure);
    if (failure) throw RunFailure(format("cannot create the folder {}: {}", folder.string(), failure.message()));
    if (!sync_folder(parent_of(missing.back()))) fail_writing(missing.back(), "fsync of its folder", errno);
  }
}

void remove_unfinished_files(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (!is_temporary(entry.path())) continue;
    const Descriptor file(entry.path(), O_WRONLY | O_NOFOLLOW);
    // Under its lock and with this name, nobody can be about to rename it.
    if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && names_open_file(entry.path(), file.get()))
      ::unlink(entry.path().c_str());
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
