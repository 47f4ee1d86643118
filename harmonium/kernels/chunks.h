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

// The same for a table, row by row: calls visit(row, column, count, u) for pieces that lie within one row, rows shared
// between threads. Where a piece ends depends on its place alone, so sums over pieces do not depend on threads.
template <class T, class Visit>
void for_each_row_piece(const Key& key, std::int64_t rows, std::int64_t columns, Visit visit) {
  const std::int64_t grain = std::max<std::int64_t>(1, 32 * uniform_chunk / std::max<std::int64_t>(1, columns));
  at::parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) T u[uniform_chunk];
    std::int64_t filled = -1;
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t column = 0; column < columns;) {
        const std::int64_t element = row * columns + column, chunk = element / uniform_chunk;
        if (chunk != filled) fill_uniform_chunk(key, chunk, u);
        filled = chunk;
        const std::int64_t offset = element % uniform_chunk, count = std::min(uniform_chunk - offset, columns - column);
        visit(row, column, count, u + offset);
        column += count;
      }
  });
}

}  // namespace harmonium
