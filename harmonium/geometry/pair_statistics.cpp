#include "harmonium/geometry/pair_statistics.h"

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

[[noreturn]] void not_known() {
  fail(
      "this optimizer needs moments of three and four units, which an exact gradient of a fully visible model does not "
      "give; use @optimizer fang, centering or diagonal, or @gradient pcd");
}

}  // namespace

bool PairStatistics::serves(const Topology& topology) {
  return topology.layers.size() == 1 && topology.layers[0].indicator && topology.edges.size() == 1;
}

PairStatistics::PairStatistics(const Topology& topology, Moments moments)
    : topology_(topology), moments_(std::move(moments)) {
  require(serves(topology), "pair statistics need one layer of indicators with an edge inside");
}

at::Tensor PairStatistics::unary_mean() const { return moments_[topology_.layers[0].parameters[0]]; }

at::Tensor PairStatistics::unary_second_moment() const {
  // Units of one softmax group are never active together, so zero is right for what is no pair.
  const at::Tensor& pairs = moments_[topology_.edges[0].weights];
  return pairs + pairs.t() + at::diag(unary_mean());
}

ProductMoments PairStatistics::product_moments(std::size_t) const {
  const at::Tensor& pairs = moments_[topology_.edges[0].weights];
  return {.with_lower = pairs, .with_upper = pairs, .square = pairs};
}

at::Tensor PairStatistics::product_moment_with(std::size_t, const at::Tensor&) const { not_known(); }
at::Tensor PairStatistics::covariance(const at::Tensor&) const { not_known(); }
Moments PairStatistics::covariance_product(const Moments&) const { not_known(); }
Eigenpairs PairStatistics::leading_eigenpairs(std::int64_t) const { not_known(); }

}  // namespace harmonium
