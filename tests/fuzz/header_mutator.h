// Changes to a safetensors file that leave it a safetensors file: the header is changed as JSON (numbers, shapes,
// names, types, what is written inside its texts), its length is put right, and offsets follow shapes where that is
// asked for. Blind mutations hardly ever get behind the parser.
#pragma once

#include <string>
#include <string_view>

namespace harmonium {

// Empty where the bytes have no header that can be changed.
[[nodiscard]] std::string mutate_header(std::string_view bytes, unsigned seed);

}  // namespace harmonium
