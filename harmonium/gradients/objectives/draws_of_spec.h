// "vimco:5": the name of an objective and its number of draws.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "harmonium/core/error.h"

namespace harmonium {

// What stands before the colon.
[[nodiscard]] inline std::string name_of_spec(const std::string& spec) { return spec.substr(0, spec.find(':')); }

// What stands behind it, at least `least`; `usual` where there is no colon.
[[nodiscard]] inline std::int64_t draws_of_spec(const std::string& spec, std::int64_t least, std::int64_t usual) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos) return usual;
  constexpr std::int64_t most = 1'000'000;
  const char *begin = spec.data() + colon + 1, *end = spec.data() + spec.size();
  std::int64_t draws = 0;
  const auto [stop, error] = std::from_chars(begin, end, draws);
  require(error == std::errc{} && stop == end && draws >= least && draws <= most,
          "@objective {}: the number of draws after the colon must be a whole number from {} to {}", spec, least, most);
  return draws;
}

}  // namespace harmonium
