// The entry point of every fuzzer; PARSER names the function of parsers.cpp that it feeds.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace harmonium {
void PARSER(std::string_view bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  harmonium::PARSER({reinterpret_cast<const char*>(data), size});
  return 0;
}
