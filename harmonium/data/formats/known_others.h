// Files that people have and this program does not read: what they are and what to do.
#pragma once

#include <string>
#include <string_view>

namespace harmonium {

// "a Python pickle; save the array with numpy.save (.npy) instead"; empty where the bytes are nothing of the kind.
[[nodiscard]] std::string known_other_format(std::string_view bytes);

}  // namespace harmonium
