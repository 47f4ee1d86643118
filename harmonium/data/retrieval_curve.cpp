#include "harmonium/data/retrieval_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

at::Tensor unit_vectors(const at::Tensor& codes) {
  const at::Tensor values = codes.to(at::kFloat), length = values.norm(2, {1}, /*keepdim=*/true);
  require(values.isfinite().all().item<bool>(), "a code holds something that is no number");
  return values / at::where(length.eq(0), at::ones_like(length), length);
}

std::vector<RetrievalPoint> curve_of(const Documents& queries, const Documents& pool, bool same) {
  require(queries.codes.size(1) == pool.codes.size(1), "codes of {} and of {} numbers have no angle",
          queries.codes.size(1), pool.codes.size(1));
  require(queries.labels.size(0) == queries.codes.size(0) && pool.labels.size(0) == pool.codes.size(0),
          "every code needs a label");
  const std::int64_t count = queries.codes.size(0), size = pool.codes.size(0) - (same ? 1 : 0);
  require(count >= 1 && size >= 1, "{} queries and a pool of {} documents give no retrieval", count, size);
  std::vector<RetrievalPoint> points;
  for (std::int64_t n = 1; n < size; n = 2 * n + 1) points.push_back({.retrieved = n});
  points.push_back({.retrieved = size});

  const at::Tensor from = unit_vectors(queries.codes), to = same ? from : unit_vectors(pool.codes);
  std::vector<double> sums(points.size(), 0), squares(points.size(), 0);
  constexpr std::int64_t queries_at_once = 250;
  for (std::int64_t first = 0; first < count; first += queries_at_once) {
    const std::int64_t rows = std::min(queries_at_once, count - first);
    at::Tensor cosine = from.narrow(0, first, rows).mm(to.t());
    if (same)  // last, and not looked at
      cosine.narrow(1, first, rows).diagonal().fill_(-std::numeric_limits<float>::infinity());
    const at::Tensor order = std::get<1>(cosine.sort(/*stable=*/true, 1, /*descending=*/true));
    const at::Tensor relevant = pool.labels.index_select(0, order.reshape({-1}))
                                    .reshape({rows, -1})
                                    .eq(queries.labels.narrow(0, first, rows).unsqueeze(1));
    const at::Tensor found = relevant.to(at::kInt).cumsum(1, at::kInt);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const at::Tensor precision =
          found.select(1, points[i].retrieved - 1).to(at::kDouble) / static_cast<double>(points[i].retrieved);
      sums[i] += precision.sum().item<double>();
      squares[i] += precision.square().sum().item<double>();
    }
  }
  const auto n = static_cast<double>(count);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double mean = sums[i] / n, variance = std::max(0.0, squares[i] / n - mean * mean);
    const double half = count > 1 ? 1.96 * std::sqrt(variance / (n - 1)) : 0;
    points[i].precision = mean;
    points[i].low = mean - half;
    points[i].high = mean + half;
  }
  return points;
}

}  // namespace

std::vector<RetrievalPoint> retrieval_curve(const Documents& queries, const Documents& pool) {
  return curve_of(queries, pool, false);
}

std::vector<RetrievalPoint> retrieval_curve(const Documents& documents) {
  require(documents.codes.size(0) >= 2, "one document has no others to be found");
  return curve_of(documents, documents, true);
}

}  // namespace harmonium
