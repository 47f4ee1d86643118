// What every launch needs: how many blocks, and whether it went off.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

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

// Lets a kernel have so much shared memory; asked of the driver once for each kernel and device, since that takes as
// long as a launch.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, int bytes) {
  static std::mutex mutex;
  static std::set<std::pair<int, const void*>> known;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  const std::lock_guard lock(mutex);
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (!known.emplace(device, function).second) return;
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "shared memory of a kernel");
}

}  // namespace harmonium::cuda
