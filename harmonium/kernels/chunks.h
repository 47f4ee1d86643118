// Runs an elementwise sampling loop over a tensor: uniforms chunk by chunk, chunks shared between threads.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>

#include "harmonium/kernels/uniform_fill.h"

namespace harmonium {

// Calls visit(first, count, u) for consecutive ranges covering [0, n), with u the uniforms of elements first … .
template <class T, class Visit>
void for_each_chunk(const Key& key, std::int64_t n, Visit visit) {
  const std::int64_t chunks = (n + uniform_chunk - 1) / uniform_chunk;
  at::parallel_for(0, chunks, /*grain_size=*/32, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) T u[uniform_chunk];
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      fill_uniform_chunk(key, chunk, u);
      visit(chunk * uniform_chunk, std::min(uniform_chunk, n - chunk * uniform_chunk), u);
    }
  });
}

}  // namespace harmonium
