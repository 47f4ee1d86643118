// The entry points of libFuzzer; FUZZ_TARGET names the fuzzer that runs (see targets.h).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/header_mutator.h"
#include "tests/fuzz/targets.h"

namespace {

const harmonium::FuzzTarget& chosen() {
  static const harmonium::FuzzTarget target = [] {
    const char* name = std::getenv("FUZZ_TARGET");
    for (const harmonium::FuzzTarget& each : harmonium::all_targets())
      if (name != nullptr && each.name == name) return each;
    std::fputs("set FUZZ_TARGET to one of:", stderr);
    for (const harmonium::FuzzTarget& each : harmonium::all_targets()) std::fprintf(stderr, " %s", each.name.c_str());
    std::fputs("\n", stderr);
    std::exit(2);
  }();
  return target;
}

}  // namespace

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().run({reinterpret_cast<const char*>(data), size});
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  constexpr unsigned plain_every = 4;  // bytes are changed blindly now and then
  if (chosen().safetensors && seed % plain_every != 0) {
    const std::string changed =
        harmonium::mutate_header({reinterpret_cast<const char*>(data), size}, seed / plain_every);
    if (!changed.empty() && changed.size() <= most) {
      changed.copy(reinterpret_cast<char*>(data), changed.size());
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
}
