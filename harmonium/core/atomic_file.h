// Writing files whole or not at all: temporary file beside the target, fsync, rename, fsync of the folder.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace harmonium {

// Replaces `path` by `bytes` atomically; throws RunFailure naming path and cause, leaving any earlier file untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);
// Appends `bytes`; what is on disk after a power cut is known after sync_file only. Both throw RunFailure.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);
void sync_file(const std::filesystem::path& path);
// Makes a folder and those above it, and has their names on disk; nothing where it is there. Throws RunFailure.
void create_folder(const std::filesystem::path& folder);

// Removes what writers that were killed halfway have left in a folder: NAME.PROCESS.tmp that no living process holds.
// Safe beside others who write there, and best effort: nothing happens where the folder may not be changed.
void remove_unfinished_files(const std::filesystem::path& folder);

// What read(2) does; tests of failing disks give another.
using ReadBytes = ssize_t (*)(int descriptor, void* bytes, std::size_t count);

// Reads a whole file or throws Error naming the path and the cause: a failed read, fewer bytes than the file's size, or
// something that is no regular file (a pipe, a device, a folder). Memory that runs out is std::bad_alloc.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, ReadBytes read = ::read);

}  // namespace harmonium
