#include "harmonium/runs/json_lines.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace harmonium {

RecordLock::RecordLock(const std::filesystem::path& folder) : handle_(::open(folder.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (handle_ >= 0) (void)::flock(handle_, LOCK_EX);
}

RecordLock::~RecordLock() {
  if (handle_ >= 0) (void)::close(handle_);
}

void keep_aside(const std::filesystem::path& path, const std::vector<DamagedLine>& lines) {
  if (lines.empty()) return;
  std::filesystem::path aside = path;
  aside += ".damaged";
  std::string text = std::filesystem::exists(aside) ? read_file(aside) : std::string();
  for (const DamagedLine& line : lines)  // what was kept before a crash is not kept twice
    if (("\n" + text).find("\n" + line.text + "\n") == std::string::npos) text += line.text + "\n";
  write_file_atomically(aside, text);
}

}  // namespace harmonium
