#include "harmonium/families/hidden_units.h"

#include "harmonium/core/error.h"

namespace harmonium {

std::int64_t hidden_units(const RunConfig& config, const char* what) {
  constexpr std::size_t most_digits = 7;
  require(!config.hidden.empty() && config.hidden.size() <= most_digits &&
              config.hidden.find_first_not_of("0123456789") == std::string::npos && std::stoll(config.hidden) > 0,
          "@hidden {}: give the number of {}, such as 64", config.hidden, what);
  return std::stoll(config.hidden);
}

}  // namespace harmonium
