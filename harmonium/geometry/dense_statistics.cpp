#include "harmonium/geometry/dense_statistics.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::int64_t decomposed_whole = 6000;  // rows: about a minute on two cores
constexpr int most_iterations = 200;

// Rayleigh–Ritz on a subspace that products with the matrix turn towards the leading eigenvectors. The spare columns
// make the rate (λ_spare / λ_count) per step, and the iteration stops when no wanted eigenvalue moves by 1e-10 of it.
Eigenpairs subspace_iteration(const at::Tensor& matrix, std::int64_t count) {
  const std::int64_t dimension = matrix.size(0),
                     columns = std::min(dimension, count + std::max<std::int64_t>(20, count / 2));
  at::Tensor basis = matrix.narrow(1, 0, columns) + at::eye(dimension, columns, matrix.options());
  basis = std::get<0>(at::linalg_qr(basis));
  at::Tensor before;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    const at::Tensor product = matrix.mm(basis);
    const auto [values, rotation] = at::linalg_eigh(basis.t().mm(product));
    const at::Tensor leading = values.flip(0).narrow(0, 0, count);
    if (before.defined() && ((leading - before).abs() <= 1e-10 * leading.abs()).all().item<bool>())
      return {.values = leading, .vectors = basis.mm(rotation.flip(1).narrow(1, 0, count))};
    before = leading;
    basis = std::get<0>(at::linalg_qr(product));
  }
  throw Diverged(format("the {} leading eigenvalues did not converge in {} iterations", count, most_iterations));
}

}  // namespace

DenseStatistics::DenseStatistics(const Topology& topology, const Moments& mean, at::Tensor covariance)
    : index_(topology, mean), mean_(mean), flat_mean_(mean.flatten()), covariance_(std::move(covariance)) {
  require(
      covariance_.dim() == 2 && covariance_.size(0) == index_.dimension() && covariance_.size(1) == index_.dimension(),
      "a covariance of {} statistics was given for {}", covariance_.size(0), index_.dimension());
}

at::Tensor DenseStatistics::second_moments(const at::Tensor& a, const at::Tensor& b) const {
  return covariance_.view(-1).index_select(0, a * index_.dimension() + b) +
         flat_mean_.index_select(0, a) * flat_mean_.index_select(0, b);
}

at::Tensor DenseStatistics::unary_mean() const { return flat_mean_.index_select(0, index_.unary_places()); }

at::Tensor DenseStatistics::unary_second_moment() const {
  const at::Tensor mean = unary_mean();
  return covariance(index_.unary_places()).addr_(mean, mean);
}

at::Tensor DenseStatistics::product_moment_with(std::size_t edge, const at::Tensor& places) const {
  const at::Tensor products = index_.range(index_.edge_begin(edge), index_.edge_begin(edge) + index_.edge_count(edge));
  return second_moments(products, index_.unary_places().index_select(0, places.reshape(-1))).view(places.sizes());
}

ProductMoments DenseStatistics::product_moments(std::size_t edge) const {
  const EdgeInfo& info = index_.topology().edges[edge];
  const std::vector<std::int64_t> shape = {index_.width(info.lower), index_.width(info.upper)};
  const at::Tensor lower = index_.range(0, shape[0]) + index_.unary_begin(info.lower);
  const at::Tensor upper = index_.range(0, shape[1]) + index_.unary_begin(info.upper);
  const at::Tensor products = index_.range(index_.edge_begin(edge), index_.edge_begin(edge) + index_.edge_count(edge));
  return {.with_lower = product_moment_with(edge, lower.unsqueeze(1).expand(shape)),
          .with_upper = product_moment_with(edge, upper.unsqueeze(0).expand(shape)),
          .square = second_moments(products, products).view(shape)};
}

Moments DenseStatistics::mean_square() const { return mean_.unflatten(covariance_.diagonal() + flat_mean_.square()); }

at::Tensor DenseStatistics::covariance(const at::Tensor& places) const {
  return covariance_.index_select(0, places).index_select(1, places);
}

Moments DenseStatistics::covariance_product(const Moments& direction) const {
  return mean_.unflatten(covariance_.mv(direction.flatten()));
}

Eigenpairs DenseStatistics::leading_eigenpairs(std::int64_t count) const {
  count = std::min(count, index_.dimension());
  if (!known_pairs_.values.defined() || known_pairs_.values.size(0) < count) {
    if (index_.dimension() > decomposed_whole && count < index_.dimension() / 10) {
      known_pairs_ = subspace_iteration(covariance_, count);
    } else {
      const auto [values, vectors] = at::linalg_eigh(covariance_);
      known_pairs_ = {.values = values.flip(0), .vectors = vectors.flip(1)};
    }
  }
  return {.values = known_pairs_.values.narrow(0, 0, count), .vectors = known_pairs_.vectors.narrow(1, 0, count)};
}

}  // namespace harmonium
