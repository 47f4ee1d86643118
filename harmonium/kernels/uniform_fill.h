// The inner loop of all sampling: uniforms of a stream, straight into a small buffer.
#pragma once

#include <cstdint>

#include "harmonium/core/key.h"

namespace harmonium {

// Elements per chunk: sampling kernels draw this many uniforms into the first-level cache, then use them at once.
inline constexpr std::int64_t uniform_chunk = 512;

// Fills u[0 … uniform_chunk) with elements chunk·uniform_chunk … of the stream: float32 takes one 32-bit word per
// element (four a block), float64 takes two.
void fill_uniform_chunk(const Key& key, std::int64_t chunk, float* u);
void fill_uniform_chunk(const Key& key, std::int64_t chunk, double* u);

}  // namespace harmonium
