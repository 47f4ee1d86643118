// The folder of a search or of an experiment made of searches: whose it is, and that one process at a time works in it.
#pragma once

#include <filesystem>
#include <string>

namespace harmonium {

// Held until this object and every child process that was started meanwhile have ended: runs of a call that was killed
// may still be saving when the next one begins, which then waits for them a while. Fails where it waits in vain.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

// Makes the folder and keeps `text` there as search.toml. Fails where there is another text, naming the first line that
// differs, or where the folder holds other things.
void claim_search_folder(const std::filesystem::path& folder, const std::string& text);

}  // namespace harmonium
