// make_seeds FOLDER: writes small valid files of every kind to FOLDER/<target>/<number>, where fuzzing starts.
#include <cstdio>

#include "tests/fuzz/targets.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_seeds FOLDER\n", stderr);
    return 2;
  }
  harmonium::write_seeds(argv[1]);
  return 0;
}
