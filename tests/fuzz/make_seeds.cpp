// make_seeds FOLDER: writes small valid files of every format to FOLDER/<parser>/<number>, where fuzzing starts.
#include <cstdio>
#include <filesystem>

namespace harmonium {
void write_seeds(const std::filesystem::path& folder);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_seeds FOLDER\n", stderr);
    return 2;
  }
  harmonium::write_seeds(argv[1]);
  return 0;
}
