#include <filesystem>

#include "harmonium/core/atomic_file.h"
#include "tests/files/sample_files.h"

namespace harmonium {

void write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  for (const auto& [parser, bytes] : samples::all()) {
    std::filesystem::create_directories(folder / parser);
    write_file_atomically(folder / parser / std::to_string(number++), bytes);
  }
}

}  // namespace harmonium
