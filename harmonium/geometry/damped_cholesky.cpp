#include "harmonium/geometry/damped_cholesky.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

std::string raised_damping(const std::string& what, double wanted, double used) {
  return format("{} is not positive definite with damping {:.3g}; {:.3g} was used", what, wanted, used);
}

DampedFactor damped_cholesky(const at::Tensor& covariance, double damping, const std::string& what) {
  if (!covariance.isfinite().all().item<bool>())
    throw Diverged(format("{} is not finite; lower @rate_weights and @rate_bias", what));
  for (double used = damping;; used = std::max(10 * used, 1e-8)) {
    at::Tensor damped = covariance.clone();
    damped.diagonal().add_(used);
    const auto [factor, info] = at::linalg_cholesky_ex(damped);
    if (info.item<std::int64_t>() == 0)
      return {.factor = factor,
              .damping = used,
              .note = used > damping ? raised_damping(what, damping, used) : std::string()};
  }
}

}  // namespace harmonium
