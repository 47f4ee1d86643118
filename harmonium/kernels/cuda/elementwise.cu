#include <cmath>
#include <numbers>

#include "harmonium/kernels/cuda/elementwise.h"
#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/elementary.h"

namespace harmonium::cuda {

namespace {

// Draws that a Philox block holds: four floats of 24 bits or two doubles of 53, in the order of uniform_fill.h.
template <class T>
constexpr int draws_per_block = 16 / sizeof(T);

__device__ inline void draw_block(const Key& key, std::int64_t block, float (&u)[4]) {
  const PhiloxBlock bits = key.block(static_cast<std::uint64_t>(block));
  for (int i = 0; i < 4; ++i) u[i] = to_unit_float(bits[i]);
}
__device__ inline void draw_block(const Key& key, std::int64_t block, double (&u)[2]) {
  const PhiloxBlock bits = key.block(static_cast<std::uint64_t>(block));
  for (int i = 0; i < 2; ++i) u[i] = to_unit_double(bits[2 * i], bits[2 * i + 1]);
}

__device__ inline std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t thread_count() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

// visit(i, u_i) for the elements 0 … n−1, a thread for each block of draws.
template <class T, class Visit>
__global__ void __launch_bounds__(threads_per_block) visit_draws(Key key, std::int64_t n, Visit visit) {
  constexpr int each = draws_per_block<T>;
  for (std::int64_t block = thread_number(); block * each < n; block += thread_count()) {
    T u[each];
    draw_block(key, block, u);
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (block * each + i < n) visit(block * each + i, u[i]);
  }
}

template <class T, class Visit>
void for_each_draw(const Key& key, std::int64_t n, Stream stream, const char* what, Visit visit) {
  if (n == 0) return;
  visit_draws<T>
      <<<blocks_for((n + draws_per_block<T> - 1) / draws_per_block<T>), threads_per_block, 0, stream>>>(key, n, visit);
  check_launch(what);
}

template <class Visit>
__global__ void __launch_bounds__(threads_per_block) visit_elements(std::int64_t n, Visit visit) {
  for (std::int64_t i = thread_number(); i < n; i += thread_count()) visit(i);
}

// Box–Muller, a pair of numbers for each pair of uniforms.
template <class T>
__global__ void __launch_bounds__(threads_per_block) fill_normal(Key key, std::int64_t n, T* out) {
  constexpr int each = draws_per_block<T>;
  for (std::int64_t block = thread_number(); block * each < n; block += thread_count()) {
    T u[each];
    draw_block(key, block, u);
#pragma unroll
    for (int i = 0; i < each; i += 2) {
      const std::int64_t first = block * each + i;
      // 1 − u lies in (0, 1], so the logarithm is finite.
      const T radius = std::sqrt(-2 * std::log(1 - u[i])), angle = 2 * std::numbers::pi_v<T> * u[i + 1];
      if (first < n) out[first] = radius * std::cos(angle);
      if (first + 1 < n) out[first + 1] = radius * std::sin(angle);
    }
  }
}

constexpr int row_threads = 128;  // of the block that goes through one row: as many blocks of draws as 512 units need

// The sum over the threads of a block, in a fixed order; thread 0 has it.
__device__ inline double block_sum(double value) {
  constexpr int warps = row_threads / 32;
  __shared__ double parts[warps];
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xFFFFFFFFU, value, distance);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  double total = 0;
  if (threadIdx.x == 0)
    for (const double part : parts) total += part;
  return total;
}

template <class T>
__global__ void __launch_bounds__(row_threads) softplus_rows(std::int64_t columns, const T* field, double* out) {
  const std::int64_t row = blockIdx.x;
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < columns; j += row_threads)
    sum += static_cast<double>(elementary::softplus(field[row * columns + j]));
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[row] = sum;
}

template <class T>
__device__ inline T total_field(const FieldTable<T>& field, std::int64_t element, std::int64_t column) {
  return field.bias[column] + field.scale * field.input[element];
}

template <class T>
__global__ void __launch_bounds__(row_threads)
    anneal_rows(Key key, std::int64_t columns, FieldTable<T> before, FieldTable<T> after, double* log_weights, T* out) {
  constexpr int each = draws_per_block<T>;
  const std::int64_t row = blockIdx.x, begin = row * columns, end = begin + columns;
  double sum = 0;
  // Rows need not begin where a block of draws does.
  for (std::int64_t block = begin / each + threadIdx.x; block * each < end; block += row_threads) {
    T u[each];
    draw_block(key, block, u);
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const std::int64_t element = block * each + i;
      if (element < begin || element >= end) continue;
      const T a = total_field(after, element, element - begin), b = total_field(before, element, element - begin);
      sum += static_cast<double>(elementary::softplus(a) - elementary::softplus(b));
      out[element] = elementary::below_logistic(u[i], a) ? T(1) : T(0);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) log_weights[row] += sum;
}

}  // namespace

template <class T>
void launch_uniform(const Key& key, std::int64_t n, T* out, Stream stream) {
  for_each_draw<T>(key, n, stream, "uniform", [out] __device__(std::int64_t i, T u) { out[i] = u; });
}

template <class T>
void launch_normal(const Key& key, std::int64_t n, T* out, Stream stream) {
  if (n == 0) return;
  fill_normal<<<blocks_for((n + draws_per_block<T> - 1) / draws_per_block<T>), threads_per_block, 0, stream>>>(key, n,
                                                                                                               out);
  check_launch("normal");
}

void launch_tags(const Key& key, std::int64_t n, std::int64_t* out, Stream stream) {
  if (n == 0) return;
  visit_elements<<<blocks_for(n), threads_per_block, 0, stream>>>(n, [key, out] __device__(std::int64_t i) {
    const PhiloxBlock bits = key.block(static_cast<std::uint64_t>(i));
    out[i] =
        static_cast<std::int64_t>((static_cast<std::uint64_t>(bits[1]) << 32 | bits[0]) ^ (std::uint64_t{1} << 63));
  });
  check_launch("tags");
}

template <class T>
void launch_sample_bernoulli(const Key& key, std::int64_t n, const T* probability, T* out, Stream stream) {
  for_each_draw<T>(key, n, stream, "sample_bernoulli",
                   [probability, out] __device__(std::int64_t i, T u) { out[i] = u < probability[i] ? T(1) : T(0); });
}

void launch_sample_bernoulli(const Key& key, const ByteRows& from, float* out, Stream stream) {
  for_each_draw<float>(key, from.count * from.columns, stream, "sample_bernoulli of bytes",
                       [from, out] __device__(std::int64_t i, float u) {
                         const std::int64_t row = from.rows[i / from.columns];
                         if (row < 0 || row >= from.known) __trap();
                         const float p =
                             static_cast<float>(from.bytes[row * from.columns + i % from.columns]) * from.scale;
                         out[i] = u < p ? 1.0F : 0.0F;
                       });
}

template <class T>
void launch_logistic(std::int64_t n, const T* field, T* out, Stream stream) {
  if (n == 0) return;
  visit_elements<<<blocks_for(n), threads_per_block, 0, stream>>>(
      n, [field, out] __device__(std::int64_t i) { out[i] = elementary::logistic(field[i]); });
  check_launch("logistic");
}

template <class T>
void launch_sample_logistic(const Key& key, std::int64_t n, const T* field, T* out, Stream stream) {
  for_each_draw<T>(key, n, stream, "sample_logistic", [field, out] __device__(std::int64_t i, T u) {
    out[i] = elementary::below_logistic(u, field[i]) ? T(1) : T(0);
  });
}

template <class T>
void launch_softplus_row_sums(std::int64_t rows, std::int64_t columns, const T* field, double* out, Stream stream) {
  if (rows == 0) return;
  softplus_rows<<<static_cast<unsigned>(rows), row_threads, 0, stream>>>(columns, field, out);
  check_launch("softplus_row_sums");
}

template <class T>
void launch_sample_logistic(const Key& key, std::int64_t rows, std::int64_t columns, FieldTable<T> field, T* out,
                            Stream stream) {
  for_each_draw<T>(key, rows * columns, stream, "sample_logistic of scaled fields",
                   [field, columns, out] __device__(std::int64_t i, T u) {
                     out[i] = elementary::below_logistic(u, total_field(field, i, i % columns)) ? T(1) : T(0);
                   });
}

template <class T>
void launch_anneal_logistic(const Key& key, std::int64_t rows, std::int64_t columns, FieldTable<T> before,
                            FieldTable<T> after, double* log_weights, T* out, Stream stream) {
  if (rows == 0) return;
  anneal_rows<<<static_cast<unsigned>(rows), row_threads, 0, stream>>>(key, columns, before, after, log_weights, out);
  check_launch("anneal_logistic");
}

#define HARMONIUM_INSTANTIATE(T)                                                                                \
  template void launch_uniform<T>(const Key&, std::int64_t, T*, Stream);                                        \
  template void launch_normal<T>(const Key&, std::int64_t, T*, Stream);                                         \
  template void launch_sample_bernoulli<T>(const Key&, std::int64_t, const T*, T*, Stream);                     \
  template void launch_logistic<T>(std::int64_t, const T*, T*, Stream);                                         \
  template void launch_sample_logistic<T>(const Key&, std::int64_t, const T*, T*, Stream);                      \
  template void launch_softplus_row_sums<T>(std::int64_t, std::int64_t, const T*, double*, Stream);             \
  template void launch_sample_logistic<T>(const Key&, std::int64_t, std::int64_t, FieldTable<T>, T*, Stream);   \
  template void launch_anneal_logistic<T>(const Key&, std::int64_t, std::int64_t, FieldTable<T>, FieldTable<T>, \
                                          double*, T*, Stream)
HARMONIUM_INSTANTIATE(float);
HARMONIUM_INSTANTIATE(double);
#undef HARMONIUM_INSTANTIATE

}  // namespace harmonium::cuda
