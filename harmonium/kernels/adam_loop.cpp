#include "harmonium/kernels/adam_loop.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/cuda/glue.h"

namespace harmonium {

namespace {

template <class T>
HARMONIUM_INLINE void direction_of(const T* g, T* m, T* v, T* direction, std::int64_t n, const AdamFactors& factors) {
  const T first = static_cast<T>(factors.first_decay), second = static_cast<T>(factors.second_decay),
          new_first = static_cast<T>(1 - factors.first_decay), new_second = static_cast<T>(1 - factors.second_decay),
          first_scale = static_cast<T>(factors.first_scale), second_scale = static_cast<T>(factors.second_scale),
          floor = static_cast<T>(factors.floor);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    m[i] = first * m[i] + new_first * g[i];
    v[i] = second * v[i] + new_second * g[i] * g[i];
    direction[i] = first_scale * m[i] / (second_scale * std::sqrt(v[i]) + floor);
  }
}

// Compiled per instruction set, so each loop is a plain function: attributes of that kind do not go on templates.
HARMONIUM_CLONES void adam_loop(const float* g, float* m, float* v, float* direction, std::int64_t n,
                                const AdamFactors& factors) {
  direction_of(g, m, v, direction, n, factors);
}
HARMONIUM_CLONES void adam_loop(const double* g, double* m, double* v, double* direction, std::int64_t n,
                                const AdamFactors& factors) {
  direction_of(g, m, v, direction, n, factors);
}

void on_cpu(const AdamTensors& tensors, const AdamFactors& factors) {
  constexpr std::int64_t block = 64, grain = 16384;  // elements: a multiple of every vector width; worth a thread
  const at::Tensor gradient = tensors.gradient.contiguous();
  const std::int64_t n = gradient.numel();
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "adam_directions", [&] {
    const auto* from = gradient.data_ptr<scalar_t>();
    auto *first = tensors.first.data_ptr<scalar_t>(), *second = tensors.second.data_ptr<scalar_t>(),
         *to = tensors.direction.data_ptr<scalar_t>();
    at::parallel_for(0, (n + block - 1) / block, grain / block, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t start = begin * block, count = std::min(end * block, n) - start;
      adam_loop(from + start, first + start, second + start, to + start, count, factors);
    });
  });
}

}  // namespace

void adam_directions(const std::vector<AdamTensors>& parameters, const AdamFactors& factors) {
  if (parameters.empty()) return;
  const at::Tensor& one = parameters.front().gradient;
  for (const AdamTensors& each : parameters)
    for (const at::Tensor* other : {&each.first, &each.second, &each.direction})
      require(other->sizes() == each.gradient.sizes() && other->scalar_type() == one.scalar_type() &&
                  other->device() == one.device() && other->is_contiguous(),
              "adam_directions: gradient, averages and direction must be of one shape and type, and lie in one piece");
  if (!one.is_cpu()) return cuda::adam_directions(parameters, factors);
  for (const AdamTensors& each : parameters) on_cpu(each, factors);
}

}  // namespace harmonium
