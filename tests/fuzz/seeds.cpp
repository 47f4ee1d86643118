#include <filesystem>

#include "harmonium/core/atomic_file.h"
#include "tests/files/sample_files.h"

namespace harmonium {

void write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  auto all = samples::all();
  // Parts of sparse matrices as fuzz_sparse takes them: csr, coo.
  all.emplace_back("sparse",
                   std::string("\0\3\3", 3) + samples::raw<std::int32_t>({2, 3, 2, 0, 1, 0, 1, 3}) + "\1\2\3");
  all.emplace_back("sparse", std::string("\2\2\2", 3) + samples::raw<std::int32_t>({2, 3, 1, 0, 2, 1}) + "\4\5");
  for (const auto& [parser, bytes] : all) {
    std::filesystem::create_directories(folder / parser);
    write_file_atomically(folder / parser / std::to_string(number++), bytes);
  }
}

}  // namespace harmonium
