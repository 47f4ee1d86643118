#include "harmonium/kernels/random.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "harmonium/core/error.h"
#include "harmonium/kernels/chunks.h"
#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/cuda/glue.h"

namespace harmonium {

namespace {

HARMONIUM_CLONES void compare(const float* u, const float* probability, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = u[i] < probability[i] ? 1.0F : 0.0F;
}
HARMONIUM_CLONES void compare(const double* u, const double* probability, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = u[i] < probability[i] ? 1.0 : 0.0;
}
HARMONIUM_CLONES void compare_bytes(const float* u, const std::uint8_t* bytes, float scale, float* out,
                                    std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = u[i] < static_cast<float>(bytes[i]) * scale ? 1.0F : 0.0F;
}

void require_real(at::ScalarType type) {
  require(type == at::kFloat || type == at::kDouble, "random tensors are float32 or float64, not {}",
          at::toString(type));
}

}  // namespace

at::Tensor uniform(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options) {
  require_real(c10::typeMetaToScalarType(options.dtype()));
  if (!options.device().is_cpu()) return cuda::uniform(key, sizes, options);
  at::Tensor result = at::empty(sizes, options);
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "uniform", [&] {
    scalar_t* out = result.data_ptr<scalar_t>();
    for_each_chunk<scalar_t>(key, result.numel(), [out](std::int64_t first, std::int64_t count, const scalar_t* u) {
      for (std::int64_t i = 0; i < count; ++i) out[first + i] = u[i];
    });
  });
  return result;
}

at::Tensor normal(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options) {
  require_real(c10::typeMetaToScalarType(options.dtype()));
  if (!options.device().is_cpu()) return cuda::normal(key, sizes, options);
  at::Tensor result = at::empty(sizes, options);
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "normal", [&] {
    scalar_t* out = result.data_ptr<scalar_t>();
    for_each_chunk<scalar_t>(key, result.numel(), [out](std::int64_t first, std::int64_t count, const scalar_t* u) {
      for (std::int64_t i = 0; i < count; i += 2) {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        const scalar_t radius = std::sqrt(-2 * std::log(1 - u[i]));
        const scalar_t angle = 2 * std::numbers::pi_v<scalar_t> * u[i + 1];
        out[first + i] = radius * std::cos(angle);
        if (i + 1 < count) out[first + i + 1] = radius * std::sin(angle);
      }
    });
  });
  return result;
}

// Marsaglia & Tsang (2000): d(1 + cx)³ with x normal, d = a − ⅓ and c = 1/√(9d), accepted with a probability above 0.95
// for every a ≥ 1; below one, a + 1 and the factor U^{1/a}. Rounds are drawn for all elements, so that each depends on
// its own place alone.
at::Tensor standard_gamma(const Key& key, const at::Tensor& shape) {
  require_real(shape.scalar_type());
  const at::Tensor small = shape < 1, d = at::where(small, shape + 1, shape) - 1.0 / 3, c = (9 * d).rsqrt();
  at::Tensor found = d.clone(), waiting = at::ones_like(small);
  // What is left after so many rounds keeps about its mean: one element in 10⁸³.
  constexpr std::uint64_t most_rounds = 64;
  for (std::uint64_t round = 0; round < most_rounds && waiting.any().item<bool>(); ++round) {
    const at::Tensor x = normal(key.fold_in(2 * round), shape.sizes(), shape.options());
    const at::Tensor v = (1 + c * x).pow(3),
                     u = 1 - uniform(key.fold_in(2 * round + 1), shape.sizes(), shape.options());
    const at::Tensor accepted = v.gt(0).logical_and(u.log() < 0.5 * x.square() + d * (1 - v + v.clamp_min(0).log()));
    found = at::where(waiting.logical_and(accepted), d * v, found);
    waiting = waiting.logical_and(accepted.logical_not());
  }
  const at::Tensor u = 1 - uniform(key.fold_in(2 * most_rounds), shape.sizes(), shape.options());
  return at::where(small, found * u.pow(shape.reciprocal()), found);
}

at::Tensor sample_bernoulli(const Key& key, const at::Tensor& probability) {
  require_real(probability.scalar_type());
  if (!probability.is_cpu()) return cuda::sample_bernoulli(key, probability);
  const at::Tensor p = probability.contiguous();
  at::Tensor result = at::empty_like(p);
  AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "sample_bernoulli", [&] {
    const scalar_t* in = p.data_ptr<scalar_t>();
    scalar_t* out = result.data_ptr<scalar_t>();
    for_each_chunk<scalar_t>(key, p.numel(), [in, out](std::int64_t first, std::int64_t count, const scalar_t* u) {
      compare(u, in + first, out + first, count);
    });
  });
  return result;
}

at::Tensor sample_bernoulli(const Key& key, const at::Tensor& bytes, const at::Tensor& rows, double scale) {
  require(bytes.scalar_type() == at::kByte && bytes.dim() == 2 && bytes.is_contiguous(),
          "rows are picked from a contiguous table of bytes");
  require(rows.scalar_type() == at::kLong && rows.dim() == 1 && rows.is_contiguous(),
          "rows are named by int64 indices");
  if (!bytes.is_cpu()) return cuda::sample_bernoulli(key, bytes, rows, scale);
  const std::int64_t columns = bytes.size(1), count = rows.size(0), known = bytes.size(0);
  const std::int64_t* row = rows.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i)
    require(row[i] >= 0 && row[i] < known, "row {} of a table with {}", row[i], known);
  at::Tensor result = at::empty({count, columns}, at::kFloat);
  const std::uint8_t* from = bytes.data_ptr<std::uint8_t>();
  float* out = result.data_ptr<float>();
  for_each_row_piece<float>(
      key, count, columns, [&](std::int64_t i, std::int64_t column, std::int64_t n, const float* u) {
        compare_bytes(u, from + row[i] * columns + column, static_cast<float>(scale), out + i * columns + column, n);
      });
  return result;
}

at::Tensor permutation(const Key& key, std::int64_t n, at::Device device) {
  if (!device.is_cpu()) return cuda::permutation(key, n, device);
  // Sorting by random 64-bit tags, ties broken by index: every order equally likely but for ties of probability
  // ~n²/2⁶⁵.
  std::vector<std::pair<std::uint64_t, std::int64_t>> tagged(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const PhiloxBlock bits = key.block(static_cast<std::uint64_t>(i));
    tagged[static_cast<std::size_t>(i)] = {static_cast<std::uint64_t>(bits[1]) << 32 | bits[0], i};
  }
  std::ranges::sort(tagged);
  at::Tensor result = at::empty({n}, at::kLong);
  std::ranges::transform(tagged, result.data_ptr<std::int64_t>(), [](const auto& pair) { return pair.second; });
  return result;
}

}  // namespace harmonium
