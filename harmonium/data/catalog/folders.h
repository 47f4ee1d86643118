// Where named data sets live: $HARMONIUM_DATA/<name>/ first, then the user's cache folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace harmonium {

// $XDG_CACHE_HOME/harmonium/data, or ~/.cache/harmonium/data; nothing when neither variable says where that is.
[[nodiscard]] std::optional<std::filesystem::path> cache_folder();

// The folders in which files of data set `name` are looked for, in order. They need not exist.
[[nodiscard]] std::vector<std::filesystem::path> candidate_folders(const std::string& name);

// `folder/file` or `folder/file.gz`, whichever is there.
[[nodiscard]] std::optional<std::filesystem::path> find_plain_or_gzipped(const std::filesystem::path& folder,
                                                                         const std::string& file);

}  // namespace harmonium
