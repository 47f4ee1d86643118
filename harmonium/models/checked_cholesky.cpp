#include "harmonium/models/checked_cholesky.h"

#include <ATen/ops/linalg_cholesky_ex.h>

#include "harmonium/core/error.h"

namespace harmonium {

at::Tensor checked_cholesky(const at::Tensor& matrix, std::string_view what) {
  const auto [factor, failed] = at::linalg_cholesky_ex(matrix);
  // LAPACK may take infinities and NaN for success.
  require(failed.eq(0).all().item<bool>() && factor.isfinite().all().item<bool>(),
          "{} are not positive definite: parameters are too large to compute with", what);
  return factor;
}

}  // namespace harmonium
