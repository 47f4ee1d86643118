// Gzip (RFC 1952) in memory: what makes every other format transparent to a .gz around it.
//
// Memory grows only with what the compressed bytes really produce: deflate cannot expand by more than 1032 to 1, and
// `max_bytes` bounds the rest, so a small file cannot ask for a large allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace harmonium {

inline constexpr std::uint64_t max_unpacked_bytes = std::uint64_t{4} << 30;

[[nodiscard]] bool is_gzip(std::string_view bytes);

// All members of a gzip file, one after the other. Throws Error naming `where` and the compressed byte.
[[nodiscard]] std::string gunzip(std::string_view bytes, const std::string& where,
                                 std::uint64_t max_bytes = max_unpacked_bytes);
// The same for a bare zlib stream (RFC 1950), as found inside other files.
[[nodiscard]] std::string inflate_zlib(std::string_view bytes, const std::string& where,
                                       std::uint64_t max_bytes = max_unpacked_bytes);
[[nodiscard]] std::string gzip(std::string_view bytes);

}  // namespace harmonium
