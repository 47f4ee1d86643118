#include "harmonium/experiments/search_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "search.lock";

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  constexpr std::chrono::seconds patience(30);
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the folder {}: {}", folder.string(), failure.message()));
  // Without O_CLOEXEC: children inherit it, and with it the lock.
  file_ = ::open((folder / lock_name).c_str(), O_RDWR | O_CREAT, 0644);
  if (file_ < 0) throw RunFailure(format("cannot write into {}: {}", folder.string(), std::strerror(errno)));
  const auto start = std::chrono::steady_clock::now();
  for (bool said = false; ::flock(file_, LOCK_EX | LOCK_NB) != 0; said = true) {
    if (!said) fmt::print(stderr, "waiting for another process that is working in {}\n", folder.string());
    require(!interrupted() && std::chrono::steady_clock::now() - start < patience,
            "another process is working in {}; wait until it ends, or give another --out", folder.string());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

FolderLock::~FolderLock() { ::close(file_); }

void claim_search_folder(const fs::path& folder, const std::string& text) {
  const fs::path guard = folder / "search.toml";
  if (fs::exists(guard)) {
    std::istringstream before(read_file(guard)), now(text);
    for (std::string old_line, line; std::getline(before, old_line) && std::getline(now, line);)
      require(old_line == line,
              "{} holds another search, with `{}` instead of `{}`. Give another --out, or remove the folder to start "
              "anew",
              folder.string(), old_line, line);
    require(read_file(guard) == text,
            "{} holds a search over other ranges. Give another --out, or remove the folder to start anew",
            folder.string());
    return;
  }
  if (fs::exists(folder)) {
    require(fs::is_directory(folder), "{} is a file; give a folder", folder.string());
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      require(entry.path().filename() == lock_name || entry.path().extension() == ".tmp",
              "{} holds files that are not a search; give another --out", folder.string());
  }
  fs::create_directories(folder);
  write_file_atomically(guard, text);
}

}  // namespace harmonium
