// Writing files whole or not at all: temporary file beside the target, fsync, rename, fsync of the folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace harmonium {

// Replaces `path` by `bytes` atomically; throws RunFailure naming path and cause, leaving any earlier file untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// Removes what writers that were killed halfway have left in a folder: NAME.PROCESS.tmp of processes that are no more.
void remove_unfinished_files(const std::filesystem::path& folder);

// Reads a whole file; throws Error naming the path.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace harmonium
