#include "harmonium/kernels/site_means.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"

namespace harmonium {

namespace {

HARMONIUM_CLONES void add_couplings(float* total, const float* row, float factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) total[i] += factor * row[i];
}
HARMONIUM_CLONES void add_couplings(double* total, const double* row, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) total[i] += factor * row[i];
}

template <class T>
struct MeansOfRow {
  T *mean, *field, *total;
  const T* couplings;
  T damping;
  std::int64_t width, columns;

  void set(std::int64_t i, T value) const {
    if (value != mean[i]) add_couplings(total, couplings + i * width, value - mean[i], width);
    mean[i] = value;
  }

  void sweep() const {
    for (std::int64_t first = 0; first < width; first += columns) {
      T peak = T(0);
      for (std::int64_t i = first; i < first + columns; ++i) {
        field[i] = total[i] + damping * (field[i] - total[i]);
        peak = i == first ? field[i] : std::max(peak, field[i]);
      }
      if (columns == 1) {
        set(first, T(1) / (T(1) + std::exp(-field[first])));
        continue;
      }
      T sum = T(0);
      for (std::int64_t i = first; i < first + columns; ++i) sum += std::exp(field[i] - peak);
      for (std::int64_t i = first; i < first + columns; ++i) set(i, std::exp(field[i] - peak) / sum);
    }
  }
};

}  // namespace

std::pair<at::Tensor, at::Tensor> site_means(const at::Tensor& means, SiteMeans sweep) {
  if (!means.is_cpu()) {
    sweep.total = on_cpu(sweep.total);
    sweep.field = on_cpu(sweep.field);
    sweep.couplings = on_cpu(sweep.couplings);
    const auto [mean, field] = site_means(on_cpu(means), std::move(sweep));
    return {mean.to(means.device()), field.to(means.device())};
  }
  const std::int64_t rows = means.size(0), width = means.size(1);
  require(sweep.total.sizes() == means.sizes() && sweep.field.sizes() == means.sizes() && sweep.couplings.dim() == 2 &&
              sweep.couplings.size(0) == width && sweep.couplings.size(1) == width && width % sweep.columns == 0,
          "site_means: fields and couplings do not fit means of {} x {}", rows, width);
  at::Tensor mean = means.clone(at::MemoryFormat::Contiguous), total = sweep.total.to(mean.scalar_type()).contiguous(),
             field = sweep.field.to(mean.scalar_type()).clone(at::MemoryFormat::Contiguous);
  const at::Tensor couplings = sweep.couplings.to(mean.scalar_type()).contiguous();
  AT_DISPATCH_FLOATING_TYPES(mean.scalar_type(), "site_means", [&] {
    const MeansOfRow<scalar_t> all{.mean = mean.data_ptr<scalar_t>(),
                                   .field = field.data_ptr<scalar_t>(),
                                   .total = total.data_ptr<scalar_t>(),
                                   .couplings = couplings.data_ptr<scalar_t>(),
                                   .damping = static_cast<scalar_t>(sweep.damping),
                                   .width = width,
                                   .columns = sweep.columns};
    const std::int64_t grain = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, width * width));
    at::parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        MeansOfRow<scalar_t> one = all;
        one.mean += row * width;
        one.field += row * width;
        one.total += row * width;
        one.sweep();
      }
    });
  });
  return {mean, field};
}

}  // namespace harmonium
