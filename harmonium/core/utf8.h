// Text that goes into TOML, JSON and HTML has to be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace harmonium {

// Well-formed UTF-8: no stray or overlong bytes, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);
// Printable ASCII as it is, every other byte as \xE9: text in an unknown encoding, for messages.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace harmonium
