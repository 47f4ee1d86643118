// What every launch needs: how many blocks, and whether it went off.
#pragma once

#include <cuda_runtime.h>

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

// A kernel that is brought to the multiprocessors while the one before on the stream still runs, and works on when that
// one says so: the way from one kernel to the next takes a few µs otherwise. Whoever is launched so calls
// wait_for_kernel_before() before it reads or writes what others do.
template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t shared, cudaStream_t stream,
                  const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "launch of a kernel");
}

#ifdef __CUDACC__
// Until everything that came before on the stream has been done and can be seen.
__device__ inline void wait_for_kernel_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// The next kernel may be brought in once all blocks have said so. Said after waiting, so that whoever comes has but
// this one kernel before it.
__device__ inline void let_next_kernel_come() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#endif

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
