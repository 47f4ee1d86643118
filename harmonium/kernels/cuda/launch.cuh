// What every launch needs: how many blocks, and whether it went off.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace harmonium::cuda {

inline constexpr int threads_per_block = 256;

// Enough blocks for so many threads, but no more than keep the device busy: kernels go on by strides of the grid.
inline int blocks_for(std::int64_t threads) {
  constexpr std::int64_t plenty = 132 * 32;
  return static_cast<int>(std::clamp<std::int64_t>((threads + threads_per_block - 1) / threads_per_block, 1, plenty));
}

// Mistakes of ours and of the machine's, not of a caller's.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

inline void check_launch(const char* what) { check(cudaGetLastError(), what); }

}  // namespace harmonium::cuda
