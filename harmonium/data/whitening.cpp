#include "harmonium/data/whitening.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::int64_t whitened_at_once = 20'000;
constexpr double least_share = 1e-4;

at::Tensor rounded(const at::Tensor& values) { return values.to(at::kFloat).to(at::kDouble); }

at::Tensor covariance_of(const Dataset& data, const at::Tensor& mean) {
  at::Tensor sum = at::zeros({data.columns(), data.columns()}, at::kDouble);
  for (std::int64_t first = 0; first < data.rows(); first += whitened_at_once) {
    const at::Tensor d =
        data.slice(first, std::min(first + whitened_at_once, data.rows())).to_float().to(at::kDouble) - mean;
    sum.addmm_(d.t(), d);
  }
  return sum / static_cast<double>(data.rows());
}

at::Tensor with_floor(const at::Tensor& variances) {
  return variances.clamp_min(std::max(least_share * variances.mean().item<double>(), 1e-30));
}

}  // namespace

at::Tensor Whitening::apply(const at::Tensor& rows) const {
  return spread * (rows.to(at::kDouble) - mean).matmul(matrix);
}

at::Tensor Whitening::undo(const at::Tensor& values) const {
  const auto [solved, failed] = at::linalg_solve_ex(matrix, values.to(at::kDouble).t());  // the matrix is symmetric
  require(failed.item<std::int64_t>() == 0, "the whitening of this model cannot be undone: its matrix is singular");
  return solved.t() / spread + mean;
}

double Whitening::log_determinant() const {
  return std::get<1>(at::linalg_slogdet(matrix)).item<double>() + static_cast<double>(mean.size(0)) * std::log(spread);
}

Whitening whitening_of(const Dataset& data, const std::string& kind) {
  require(kind == "zca" || kind == "columns" || kind == "none", "@whiten {}: there are zca, columns and none", kind);
  const at::TensorOptions real(at::kDouble);
  if (kind == "none") return {at::zeros({data.columns()}, real), at::eye(data.columns(), real)};
  require_all_values(data, "@whiten " + kind);
  require(data.rows() > 1, "{}: @whiten {} needs at least two rows", data.name, kind);
  const at::Tensor mean = rounded(data.column_means()), covariance = covariance_of(data, mean);
  require(covariance.diagonal().max().item<double>() > 0, "{}: all rows are the same; there is nothing to learn",
          data.name);
  if (kind == "columns") return {mean, rounded(at::diag(with_floor(covariance.diagonal()).rsqrt()))};
  const auto [variances, directions] = at::linalg_eigh(covariance);
  const at::Tensor root = (directions * with_floor(variances).rsqrt()).matmul(directions.t());
  return {mean, rounded((root + root.t()) / 2)};
}

Dataset whitened(Dataset data, const Whitening& by) {
  const at::Tensor values = at::empty({data.rows(), data.columns()}, at::kFloat);
  for (std::int64_t first = 0; first < data.rows(); first += whitened_at_once) {
    const std::int64_t end = std::min(first + whitened_at_once, data.rows());
    values.narrow(0, first, end - first).copy_(by.apply(data.slice(first, end).to_float()));
  }
  data.values = values;
  data.moved_step = (data.scale * by.spread * by.matrix).to(at::kFloat);
  data.scale = data.divided_by = 1.0;
  data.whole_numbers = false;
  return data;
}

}  // namespace harmonium
