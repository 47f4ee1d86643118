#include "harmonium/geometry/particle_statistics.h"

#include <algorithm>

#include "harmonium/core/symmetric_product.h"
#include "harmonium/kernels/binary_product.h"

namespace harmonium {

namespace {

constexpr std::int64_t elements_at_once = 1 << 24;  // of temporaries with one element per row and product

}  // namespace

const Particles& ParticleStatistics::drawn() const {
  if (!drawn_) drawn_ = source_.drawn();
  return *drawn_;
}

const Particles& ParticleStatistics::expected() const {
  if (!expected_) expected_ = source_.expected();
  return *expected_;
}

at::Tensor ParticleStatistics::values(const Particles& particles, std::size_t layer) const {
  return particles.layers[layer].unary.narrow(1, 0, index_.width(layer));
}

at::Tensor ParticleStatistics::squares(const Particles& particles, std::size_t layer) const {
  const ParticleLayer& rows = particles.layers[layer];
  return rows.square.defined() ? rows.square : values(particles, layer);
}

at::Tensor ParticleStatistics::unary_mean() const {
  std::vector<at::Tensor> means;
  for (const ParticleLayer& layer : expected().layers) means.push_back(layer.unary.mean(0));
  return at::cat(means);
}

at::Tensor ParticleStatistics::unary_second_moment() const {
  const auto& layers = expected().layers;
  at::Tensor result = at::empty({index_.unary_size(), index_.unary_size()}, layers.front().unary.options());
  const auto block = [&](std::size_t row, std::size_t column) {
    return result.narrow(0, index_.unary_begin(row), index_.unary_count(row))
        .narrow(1, index_.unary_begin(column), index_.unary_count(column));
  };
  const std::vector<CodedTable> rows = [&] {
    std::vector<CodedTable> tables;
    for (const ParticleLayer& layer : layers) tables.emplace_back(layer.unary);
    return tables;
  }();
  for (std::size_t a = 0; a < layers.size(); ++a) {
    // Layers that were drawn are binary, for which sums of rows cost less than half a dense product.
    if (!layers[a].covariance.defined() && rows[a].bits() != nullptr) {
      block(a, a).copy_(mean_outer_product(rows[a], rows[a]));
    } else {
      symmetric_product_into(layers[a].unary, block(a, a));
      block(a, a).div_(static_cast<double>(rows[a].rows()));
    }
    for (std::size_t b = a + 1; b < layers.size(); ++b) {
      const at::Tensor cross = mean_outer_product(rows[a], rows[b]);
      block(a, b).copy_(cross);
      block(b, a).copy_(cross.t());
    }
    if (layers[a].covariance.defined()) block(a, a).add_(layers[a].covariance);
  }
  return result;
}

ProductMoments ParticleStatistics::product_moments(std::size_t edge) const {
  const EdgeInfo& info = index_.topology().edges[edge];
  const Particles& rows = expected();
  const auto count = static_cast<double>(rows.rows());
  const at::Tensor x = values(rows, info.lower), y = values(rows, info.upper), x2 = squares(rows, info.lower),
                   y2 = squares(rows, info.upper);
  return {.with_lower = x2.t().mm(y).div_(count),
          .with_upper = x.t().mm(y2).div_(count),
          .square = x2.t().mm(y2).div_(count)};
}

at::Tensor ParticleStatistics::product_moment_with(std::size_t edge, const at::Tensor& places) const {
  const EdgeInfo& info = index_.topology().edges[edge];
  std::vector<at::Tensor> unary;
  for (const ParticleLayer& layer : drawn().layers) unary.push_back(layer.unary);
  const at::Tensor u = at::cat(unary, 1), x = values(drawn(), info.lower), y = values(drawn(), info.upper);
  at::Tensor result = at::empty({x.size(1), y.size(1)}, x.options());
  // One lower unit at a time: every row's x_i y_j times the statistic chosen for (i, j).
  for (std::int64_t i = 0; i < x.size(1); ++i)
    result[i].copy_((y * x.select(1, i).unsqueeze(1) * u.index_select(1, places[i])).mean(0));
  return result;
}

Moments ParticleStatistics::mean() const {
  return combine(at::full({rows()}, 1.0 / static_cast<double>(rows()), drawn().layers.front().unary.options()));
}

Moments ParticleStatistics::mean_square() const {
  Moments result;
  std::vector<at::Tensor> unary;
  for (const ParticleLayer& layer : drawn().layers) unary.push_back(layer.unary.square().mean(0));
  index_.insert_unary(result, at::cat(unary));
  for (const EdgeInfo& edge : index_.topology().edges)
    result.insert(edge.weights, edge.masked(squares(drawn(), edge.lower).t().mm(squares(drawn(), edge.upper)))
                                    .div(static_cast<double>(rows())));
  return result;
}

at::Tensor ParticleStatistics::covariance(const at::Tensor& places) const {
  std::vector<at::Tensor> columns = {at::ones({rows(), 1}, drawn().layers.front().unary.options())};
  for (const ParticleLayer& layer : drawn().layers) columns.push_back(layer.unary);
  const at::Tensor one_and_u = at::cat(columns, 1), factors = index_.factors().index_select(0, places);
  const std::int64_t at_once = std::max<std::int64_t>(1, elements_at_once / places.size(0));
  const at::Tensor center = at::empty({places.size(0)}, one_and_u.options());
  at::Tensor sum = at::zeros({places.size(0), places.size(0)}, one_and_u.options());
  at::Tensor total = at::zeros({places.size(0)}, one_and_u.options());
  for (std::int64_t first = 0; first < rows(); first += at_once) {
    const at::Tensor part = one_and_u.narrow(0, first, std::min(at_once, rows() - first));
    const at::Tensor g = part.index_select(1, factors.select(1, 0)) * part.index_select(1, factors.select(1, 1));
    // About the first part's mean, so that nothing large cancels below.
    if (first == 0) at::Tensor(center).copy_(g.mean(0));
    sum.add_(symmetric_product(g - center));
    total.add_((g - center).sum(0));
  }
  const at::Tensor shift = total / static_cast<double>(rows());
  return sum.div_(static_cast<double>(rows())).addr_(shift, shift, 1, -1);
}

at::Tensor ParticleStatistics::project(const Moments& direction) const {
  at::Tensor result = at::zeros({rows()}, drawn().layers.front().unary.options());
  const at::Tensor unary = index_.gather_unary(direction);
  for (std::size_t layer = 0; layer < drawn().layers.size(); ++layer)
    result.add_(drawn().layers[layer].unary.mv(unary.narrow(0, index_.unary_begin(layer), index_.unary_count(layer))));
  for (const EdgeInfo& edge : index_.topology().edges)
    result.add_((values(drawn(), edge.lower).mm(direction[edge.weights]) * values(drawn(), edge.upper)).sum(1));
  return result;
}

Moments ParticleStatistics::combine(const at::Tensor& weights) const {
  Moments result;
  std::vector<at::Tensor> unary;
  for (const ParticleLayer& layer : drawn().layers) unary.push_back(layer.unary.t().mv(weights));
  index_.insert_unary(result, at::cat(unary));
  for (const EdgeInfo& edge : index_.topology().edges)
    result.insert(
        edge.weights,
        edge.masked((values(drawn(), edge.lower) * weights.unsqueeze(1)).t().mm(values(drawn(), edge.upper))));
  return result;
}

Moments ParticleStatistics::covariance_product(const Moments& direction) const {
  const at::Tensor projection = project(direction);
  return combine((projection - projection.mean()) / static_cast<double>(rows()));
}

Eigenpairs ParticleStatistics::leading_eigenpairs(std::int64_t count) const {
  const std::int64_t n = rows();
  if (index_.dimension() <= n) {
    const auto [all, basis] = at::linalg_eigh(covariance(index_.all_places()));
    count = std::min(count, index_.dimension());
    return {.values = all.flip(0).narrow(0, 0, count), .vectors = basis.flip(1).narrow(1, 0, count)};
  }
  // Cov(g) = CᵀC/n with C the centered rows of g has the eigenvalues of the n × n matrix CCᵀ/n, and inner products of
  // statistics are inner products of layers: g·g' = u·u' + Σ_edges (x·x')(y·y').
  at::Tensor gram = at::zeros({n, n}, index_.precise());
  for (const ParticleLayer& layer : drawn().layers) gram.add_(layer.unary.mm(layer.unary.t()));
  for (const EdgeInfo& edge : index_.topology().edges) {
    const at::Tensor x = values(drawn(), edge.lower), y = values(drawn(), edge.upper);
    gram.addcmul_(x.mm(x.t()).to(at::kDouble), y.mm(y.t()).to(at::kDouble));
  }
  gram.sub_(gram.mean(0, true)).sub_(gram.mean(1, true)).div_(static_cast<double>(n));
  auto [values_, vectors_] = at::linalg_eigh(0.5 * (gram + gram.t()));
  count = std::min(count, n - 1);
  Eigenpairs result{.values = values_.flip(0).narrow(0, 0, count).clamp_min(0), .vectors = {}};
  std::vector<at::Tensor> columns;
  for (std::int64_t k = 0; k < count; ++k) {
    // The sum of a centered weight vector over g is the same over centered g.
    const at::Tensor weights = vectors_.select(1, n - 1 - k).to(drawn().layers.front().unary.scalar_type());
    const at::Tensor column = combine(weights - weights.mean()).flatten();
    columns.push_back(column / column.norm().clamp_min(1e-30));
  }
  result.vectors = at::stack(columns, 1);
  result.values = result.values.to(result.vectors.scalar_type());
  return result;
}

}  // namespace harmonium
