#include "harmonium/kernels/cuda/unit_statistics.h"

#include "harmonium/kernels/cuda/launch.cuh"

namespace harmonium::cuda {

namespace {

__global__ void unit_moments_kernel(const float* sums, std::int64_t stride, std::int64_t count, float share,
                                    float* mean, float* second_moment) {
  const std::int64_t row = blockIdx.x;
  const float own = sums[row * stride + count] * share;
  if (threadIdx.x == 0) mean[row] = own;
  for (std::int64_t column = threadIdx.x; column < count; column += blockDim.x)
    second_moment[row * count + column] = column == row ? own : sums[row * stride + column] * share;
}

constexpr int rows_at_once = 8;

// Threads with x = j solve L x = e_j from above: what is left of e_j after k units is in column j of `rest`.
__global__ void __launch_bounds__(largest_triangle* rows_at_once)
    inverse_triangles_kernel(const float* from, std::int64_t stride, int size, float* to) {
  extern __shared__ float shared[];
  float* const lower = shared;
  float* const rest = shared + size * size;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * size * (stride + 1);
  const int j = threadIdx.x;
  if (j < size)
    for (int i = threadIdx.y; i < size; i += rows_at_once) {
      lower[i * size + j] = from[first + i * stride + j];
      rest[i * size + j] = i == j ? 1 : 0;
    }
  for (int k = 0; k < size; ++k) {
    __syncthreads();
    if (j > k) continue;
    const float x = rest[k * size + j] / lower[k * size + k];
    for (int i = k + 1 + threadIdx.y; i < size; i += rows_at_once) rest[i * size + j] -= lower[i * size + k] * x;
  }
  __syncthreads();
  if (j < size)
    for (int i = threadIdx.y; i < size; i += rows_at_once)
      to[first + i * stride + j] = rest[i * size + j] / lower[i * size + i];
}

}  // namespace

void launch_unit_moments(const float* sums, std::int64_t stride, std::int64_t count, float share, float* mean,
                         float* second_moment, Stream stream) {
  unit_moments_kernel<<<static_cast<unsigned>(count), threads_per_block, 0, stream>>>(sums, stride, count, share, mean,
                                                                                      second_moment);
  check_launch("moments of units");
}

void launch_inverse_triangles(const float* from, std::int64_t stride, int size, int count, float* to, Stream stream) {
  constexpr int most_bytes = 2 * largest_triangle * largest_triangle * static_cast<int>(sizeof(float));
  allow_shared_memory(inverse_triangles_kernel, most_bytes);
  const std::size_t bytes = 2 * sizeof(float) * static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  inverse_triangles_kernel<<<static_cast<unsigned>(count), dim3(largest_triangle, rows_at_once), bytes, stream>>>(
      from, stride, size, to);
  check_launch("inverses of triangles");
}

}  // namespace harmonium::cuda
