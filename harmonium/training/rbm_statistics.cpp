#include "harmonium/training/rbm_statistics.h"

#include "harmonium/kernels/cuda/glue.h"

namespace harmonium {

RbmStatistics::RbmStatistics(const BoltzmannMachine& machine, const at::Tensor& units, ParticleSource source)
    : ParticleStatistics(machine.topology(), machine.parameters(), std::move(source)) {
  const std::int64_t count = machine.unit(0).width() + machine.unit(1).width();
  const auto rows = static_cast<double>(units.size(0));
  if (units.scalar_type() == at::kHalf) {
    const cuda::UnitMoments moments = cuda::unit_moments(cuda::wide_product(units.t(), units), count, 1 / rows);
    mean_ = moments.mean;
    second_moment_ = moments.second_moment;
    return;
  }
  const at::Tensor products = units.t().mm(units);
  mean_ = products.narrow(0, 0, count).select(1, count).div(rows);
  second_moment_ = products.narrow(0, 0, count).narrow(1, 0, count).div(rows).contiguous();
  // Units are 0 or 1, so that E[x²] = E[x]: of means it would lack their variance.
  second_moment_.diagonal().copy_(mean_);
}

}  // namespace harmonium
