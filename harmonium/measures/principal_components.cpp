#include "harmonium/measures/principal_components.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

PrincipalComponents::PrincipalComponents(const Dataset& data, std::int64_t count) {
  require(data.rows() >= 1, "{}: principal components need rows", data.name);
  require(count >= 1 && count <= data.columns(), "{}: there are 1 … {} principal components, not {}", data.name,
          data.columns(), count);
  mean_ = data.column_means();
  at::Tensor covariance = at::zeros({data.columns(), data.columns()}, at::kDouble);
  constexpr std::int64_t rows_at_once = 5000;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const at::Tensor centered =
        data.slice(first, std::min(first + rows_at_once, data.rows())).to_float().to(at::kDouble) - mean_;
    covariance.addmm_(centered.t(), centered, 1, 1.0 / static_cast<double>(data.rows()));
  }
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(covariance));  // by rising eigenvalue
  directions_ = vectors.narrow(1, data.columns() - count, count).flip(1).contiguous();
}

at::Tensor PrincipalComponents::encode(const at::Tensor& rows) const {
  return (rows.to(at::kDouble) - mean_).matmul(directions_);
}

at::Tensor PrincipalComponents::reconstruct(const at::Tensor& rows) const {
  return at::addmm(mean_, encode(rows), directions_.t());
}

}  // namespace harmonium
