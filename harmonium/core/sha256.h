// SHA-256 (FIPS 180-4), for checking downloads and checkpoints.
#pragma once

#include <string>
#include <string_view>

namespace harmonium {

// 64 lowercase hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace harmonium
