#include "harmonium/kernels/logistic.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/chunks.h"
#include "harmonium/kernels/cuda/glue.h"
#include "harmonium/kernels/elementary.h"

namespace harmonium {

namespace {

// Compiled per instruction set, so each loop is a plain function: attributes of that kind do not go on templates.
HARMONIUM_CLONES void logistic_loop(const float* in, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = elementary::logistic(in[i]);
}
HARMONIUM_CLONES void logistic_loop(const double* in, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = elementary::logistic(in[i]);
}
HARMONIUM_CLONES void sample_loop(const float* in, const float* u, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = elementary::below_logistic(u[i], in[i]) ? 1.0F : 0.0F;
}
HARMONIUM_CLONES void sample_loop(const double* in, const double* u, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = elementary::below_logistic(u[i], in[i]) ? 1.0 : 0.0;
}

// The order of summation is fixed (16 interleaved partial sums), whatever the instruction set or number of threads.
template <class T>
HARMONIUM_INLINE double softplus_sum(const T* in, std::int64_t n) {
  constexpr int width = 16, buffer_size = 16 * width;
  double partial[width] = {};
  T buffer[buffer_size];
  for (std::int64_t done = 0; done < n; done += buffer_size) {
    const auto count = static_cast<int>(std::min<std::int64_t>(buffer_size, n - done));
    for (int i = 0; i < count; ++i) buffer[i] = elementary::softplus(in[done + i]);
    for (int i = count; i % width != 0; ++i) buffer[i] = 0;
    for (int i = 0; i < count; i += width)
      for (int l = 0; l < width; ++l) partial[l] += static_cast<double>(buffer[i + l]);
  }
  double total = 0;
  for (const double value : partial) total += value;
  return total;
}
HARMONIUM_CLONES void softplus_rows(const float* in, double* out, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t row = 0; row < rows; ++row) out[row] = softplus_sum(in + row * columns, columns);
}
HARMONIUM_CLONES void softplus_rows(const double* in, double* out, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t row = 0; row < rows; ++row) out[row] = softplus_sum(in + row * columns, columns);
}

at::Tensor real_contiguous(const at::Tensor& field) {
  require(field.scalar_type() == at::kFloat || field.scalar_type() == at::kDouble,
          "fields are float32 or float64, not {}", at::toString(field.scalar_type()));
  return field.contiguous();
}

constexpr std::int64_t grain = 16384;  // elements: below this a thread costs more than it brings
constexpr std::int64_t block = 64;     // elements: a multiple of every vector width

}  // namespace

at::Tensor logistic(const at::Tensor& field) {
  const at::Tensor in = real_contiguous(field);
  if (!in.is_cpu()) return cuda::logistic(in);
  at::Tensor out = at::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "logistic", [&] {
    const scalar_t* source = in.data_ptr<scalar_t>();
    scalar_t* target = out.data_ptr<scalar_t>();
    // Threads share whole blocks, so that which elements the vectorised loop leaves to its scalar tail (rounded
    // differently in the last bit) does not depend on their number.
    const std::int64_t n = in.numel();
    at::parallel_for(0, (n + block - 1) / block, grain / block, [&](std::int64_t begin, std::int64_t end) {
      logistic_loop(source + begin * block, target + begin * block, std::min(end * block, n) - begin * block);
    });
  });
  return out;
}

at::Tensor sample_logistic(const Key& key, const at::Tensor& field) {
  const at::Tensor in = real_contiguous(field);
  if (!in.is_cpu()) return cuda::sample_logistic(key, in);
  at::Tensor out = at::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "sample_logistic", [&] {
    const scalar_t* source = in.data_ptr<scalar_t>();
    scalar_t* target = out.data_ptr<scalar_t>();
    for_each_chunk<scalar_t>(key, in.numel(), [&](std::int64_t first, std::int64_t count, const scalar_t* u) {
      sample_loop(source + first, u, target + first, count);
    });
  });
  return out;
}

at::Tensor softplus_row_sums(const at::Tensor& field) {
  require(field.dim() == 2, "softplus_row_sums: the field has {} dimensions, not 2", field.dim());
  const at::Tensor in = real_contiguous(field);
  if (!in.is_cpu()) return cuda::softplus_row_sums(in);
  const std::int64_t columns = in.size(1);
  at::Tensor out = at::empty({in.size(0)}, at::kDouble);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "softplus_row_sums", [&] {
    const scalar_t* source = in.data_ptr<scalar_t>();
    double* target = out.data_ptr<double>();
    at::parallel_for(0, in.size(0), std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, columns)),
                     [&](std::int64_t begin, std::int64_t end) {
                       softplus_rows(source + begin * columns, target + begin, end - begin, columns);
                     });
  });
  return out;
}

}  // namespace harmonium
