#include "harmonium/geometry/factorized_gaussian.h"

#include <array>

namespace harmonium {

namespace {

// Σ_j a_ij b_ij for coefficients a that may be a repeated row or column, without a temporary where one of them is.
at::Tensor row_sums(const at::Tensor& coefficients, const at::Tensor& values) {
  if (coefficients.size(0) == 1 && values.size(0) != 1) return values.mv(coefficients[0]);
  if (coefficients.size(1) == 1) return coefficients.select(1, 0) * values.sum(1);
  return (coefficients * values).sum(1);
}

at::Tensor column_sums(const at::Tensor& coefficients, const at::Tensor& values) {
  return row_sums(coefficients.t(), values.t());
}

struct NamedPart {
  const char* name;
  at::Tensor Regression::*part;
};

constexpr std::array<NamedPart, 5> parts = {{{"on_first", &Regression::on_first},
                                             {"on_second", &Regression::on_second},
                                             {"variance", &Regression::variance},
                                             {"first_parent", &Regression::first_parent},
                                             {"second_parent", &Regression::second_parent}}};

}  // namespace

FactorizedGaussian::FactorizedGaussian(const Topology& topology, const Moments& shape)
    : index_(topology, shape), regressions_(topology.edges.size()), precision_(topology.edges.size()) {}

void FactorizedGaussian::set_unary(at::Tensor variances_or_factor) { unary_ = std::move(variances_or_factor); }

void FactorizedGaussian::set_regression(std::size_t edge, Regression regression) {
  precision_[edge] = regression.variance.defined() ? regression.variance.reciprocal() : at::Tensor();
  regressions_[edge] = std::move(regression);
}

at::Tensor FactorizedGaussian::layer_part(const at::Tensor& unary, std::size_t layer) const {
  return unary.narrow(0, index_.unary_begin(layer), index_.width(layer));
}

at::Tensor FactorizedGaussian::solve_unary(const at::Tensor& gradient) const {
  if (!unary_.defined()) return gradient;
  if (unary_.dim() == 1) return gradient / unary_;
  return at::cholesky_solve(gradient.unsqueeze(1), unary_).squeeze(1);
}

at::Tensor FactorizedGaussian::solve_edge(std::size_t edge, const at::Tensor& weights, const at::Tensor& unary_gradient,
                                          at::Tensor& unary) const {
  const Regression& r = regressions_[edge];
  const at::Tensor& precision = precision_[edge];
  if (!r.on_first.defined()) return precision.defined() ? weights * precision : weights;
  const EdgeInfo& info = index_.topology().edges[edge];
  if (!r.first_parent.defined()) {
    at::Tensor step = at::addcmul(weights, r.on_first, layer_part(unary_gradient, info.lower).unsqueeze(1), -1);
    step.addcmul_(r.on_second, layer_part(unary_gradient, info.upper).unsqueeze(0), -1);
    if (info.inner()) step.mul_(info.pairs);
    if (precision.defined()) step.mul_(precision);
    layer_part(unary, info.lower).sub_(row_sums(r.on_first, step));
    layer_part(unary, info.upper).sub_(column_sums(r.on_second, step));
    return step;
  }
  const auto at_parents = [&](const at::Tensor& parents) {
    return unary_gradient.index_select(0, parents.reshape(-1)).view(parents.sizes());
  };
  at::Tensor step = weights - r.on_first * at_parents(r.first_parent) - r.on_second * at_parents(r.second_parent);
  if (info.inner()) step.mul_(info.pairs);
  if (precision.defined()) step.mul_(precision);
  unary.index_add_(0, r.first_parent.reshape(-1), (r.on_first * step).reshape(-1), -1);
  unary.index_add_(0, r.second_parent.reshape(-1), (r.on_second * step).reshape(-1), -1);
  return step;
}

Direction FactorizedGaussian::solve(const Moments& gradient) const {
  Direction direction;
  const at::Tensor unary_gradient = index_.gather_unary(gradient);
  index_.insert_unary(direction.unary, solve_unary(unary_gradient));
  at::Tensor unary = at::zeros_like(unary_gradient);
  index_.insert_unary(direction.pairwise, unary);  // views: the edges below write into them
  const auto& edges = index_.topology().edges;
  for (std::size_t edge = 0; edge < edges.size(); ++edge)
    direction.pairwise.insert(edges[edge].weights,
                              solve_edge(edge, gradient[edges[edge].weights], unary_gradient, unary));
  return direction;
}

at::Tensor FactorizedGaussian::to_dense() const {
  const std::int64_t dimension = index_.dimension(), size = index_.unary_size();
  at::Tensor covariance = at::eye(size, index_.precise());
  if (unary_.defined()) {
    const at::Tensor given = unary_.to(at::kDouble);
    covariance = given.dim() == 1 ? at::diag(given) : given.tril().mm(given.tril().t());
  }
  // g = B u + noise, with rows of the identity in B for u itself.
  at::Tensor coefficients = at::zeros({dimension, size}, index_.precise()),
             noise = at::zeros({dimension}, index_.precise());
  const auto add = [&](const at::Tensor& rows, const at::Tensor& columns, const at::Tensor& values) {
    coefficients.view(-1).index_add_(0, rows * size + columns, values);
  };
  add(index_.unary_places(), index_.range(0, size), at::ones({size}, index_.precise()));
  const at::Tensor factors = index_.factors();
  for (std::size_t edge = 0; edge < regressions_.size(); ++edge) {
    const Regression& r = regressions_[edge];
    const EdgeInfo& info = index_.topology().edges[edge];
    const std::vector<std::int64_t> shape = {index_.width(info.lower), index_.width(info.upper)};
    const std::int64_t begin = index_.edge_begin(edge), count = index_.edge_count(edge);
    noise.narrow(0, begin, count)
        .copy_((r.variance.defined() ? r.variance.to(at::kDouble) : at::ones({1, 1}, index_.precise()))
                   .expand(shape)
                   .reshape(-1));
    if (!r.on_first.defined()) continue;
    const at::Tensor rows = index_.range(begin, begin + count), own = factors.narrow(0, begin, count) - 1;
    const auto put = [&](const at::Tensor& values, const at::Tensor& parents, std::int64_t which) {
      const at::Tensor columns = parents.defined() ? parents.reshape(-1) : own.select(1, which);
      add(rows, columns, values.to(at::kDouble).expand(shape).reshape(-1));
    };
    put(r.on_first, r.first_parent, 0);
    put(r.on_second, r.second_parent, 1);
  }
  at::Tensor dense = coefficients.mm(covariance).mm(coefficients.t());
  dense.diagonal().add_(noise);
  return dense;
}

double FactorizedGaussian::log_det() const {
  double total = 0;
  if (unary_.defined())
    total += unary_.dim() == 1 ? unary_.to(at::kDouble).log().sum().item<double>()
                               : 2 * unary_.diagonal().to(at::kDouble).log().sum().item<double>();
  for (std::size_t edge = 0; edge < regressions_.size(); ++edge) {
    const at::Tensor& variance = regressions_[edge].variance;
    if (!variance.defined()) continue;
    const EdgeInfo& info = index_.topology().edges[edge];
    total += variance.to(at::kDouble)
                 .log()
                 .expand({index_.width(info.lower), index_.width(info.upper)})
                 .sum()
                 .item<double>();
  }
  return total;
}

NamedTensors FactorizedGaussian::state() const {
  NamedTensors tensors;
  if (unary_.defined()) tensors.emplace_back("unary", unary_);
  for (std::size_t edge = 0; edge < regressions_.size(); ++edge)
    for (const auto& [name, part] : parts)
      if ((regressions_[edge].*part).defined())
        tensors.emplace_back(format("edge.{}.{}", edge, name), regressions_[edge].*part);
  return tensors;
}

void FactorizedGaussian::restore(const NamedTensors& tensors) {
  const auto find = [&](const std::string& wanted) {
    for (const auto& [name, value] : tensors)
      if (name == wanted) return value.clone();
    return at::Tensor();
  };
  unary_ = find("unary");
  for (std::size_t edge = 0; edge < regressions_.size(); ++edge) {
    Regression regression;
    for (const auto& [name, part] : parts) regression.*part = find(format("edge.{}.{}", edge, name));
    set_regression(edge, std::move(regression));
  }
}

}  // namespace harmonium
