#include "harmonium/data/catalog/folders.h"

#include <cstdlib>

namespace harmonium {

namespace {

std::filesystem::path folder_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<std::filesystem::path> cache_folder() {
  // The XDG Base Directory Specification asks that a relative path be ignored.
  if (const auto cache = folder_from_environment("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "harmonium/data";
  if (const auto home = folder_from_environment("HOME"); !home.empty()) return home / ".cache/harmonium/data";
  return std::nullopt;
}

std::vector<std::filesystem::path> candidate_folders(const std::string& name) {
  std::vector<std::filesystem::path> folders;
  if (const auto data = folder_from_environment("HARMONIUM_DATA"); !data.empty()) folders.push_back(data / name);
  if (const auto cache = cache_folder()) folders.push_back(*cache / name);
  return folders;
}

std::optional<std::filesystem::path> find_plain_or_gzipped(const std::filesystem::path& folder,
                                                           const std::string& file) {
  for (const char* ending : {"", ".gz"})
    if (const auto path = folder / (file + ending); std::filesystem::is_regular_file(path)) return path;
  return std::nullopt;
}

}  // namespace harmonium
