#include "harmonium/kernels/uniform_fill.h"

#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/vector_loops.h"

namespace harmonium {

namespace {

HARMONIUM_CLONES void to_doubles(const std::uint32_t* bits, double* u) {
  for (std::int64_t i = 0; i < uniform_chunk; ++i) u[i] = to_unit_double(bits[2 * i], bits[2 * i + 1]);
}

}  // namespace

// A chunk never crosses a multiple of 2^32 blocks, because chunks are aligned to their own (power of two) size.
void fill_uniform_chunk(const Key& key, std::int64_t chunk, float* u) {
  constexpr std::int64_t blocks = uniform_chunk / 4;
  vector_loops().fill_uniform(key.bits(), static_cast<std::uint64_t>(chunk * blocks), blocks, u);
}

void fill_uniform_chunk(const Key& key, std::int64_t chunk, double* u) {
  constexpr std::int64_t blocks = uniform_chunk / 2;
  alignas(64) std::uint32_t bits[2 * uniform_chunk];
  vector_loops().fill_bits(key.bits(), static_cast<std::uint64_t>(chunk * blocks), blocks, bits);
  to_doubles(bits, u);
}

}  // namespace harmonium
