#include "harmonium/measures/retrieval_curve.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

at::Tensor unit_vectors(const at::Tensor& codes) {
  const at::Tensor values = codes.to(at::kFloat), length = values.norm(2, {1}, /*keepdim=*/true);
  require(values.isfinite().all().item<bool>(), "a code holds something that is no number");
  return values / at::where(length.eq(0), at::ones_like(length), length);
}

// A number that is smaller the nearer a document is, and of equally near ones the earlier.
std::uint64_t rank_key(float cosine, std::int64_t document) {
  const auto bits = std::bit_cast<std::uint32_t>(cosine + 0.0F);  // −0 is 0
  const std::uint32_t rising = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return static_cast<std::uint64_t>(~rising) << 32 | static_cast<std::uint64_t>(document);
}

// Precisions of one query at all points. Documents are not sorted but parted, at the last point first: each parting
// looks at half as many as the one before.
void precisions_of(const float* cosine, const at::Tensor& labels, std::int64_t left_out, std::int64_t wanted,
                   const std::vector<RetrievalPoint>& points, double* result) {
  std::vector<std::uint64_t> keys;
  keys.reserve(static_cast<std::size_t>(labels.size(0)));
  for (std::int64_t document = 0; document < labels.size(0); ++document)
    if (document != left_out) keys.push_back(rank_key(cosine[document], document));
  const auto* label = labels.data_ptr<std::int64_t>();
  std::vector<std::int64_t> hits(points.size(), 0);  // between a point and the one before
  auto end = keys.end();
  for (std::size_t i = points.size(); i-- > 0;) {
    const auto begin = i == 0 ? keys.begin() : keys.begin() + points[i - 1].retrieved;
    if (begin != end) std::nth_element(keys.begin(), begin, end);
    hits[i] = std::count_if(begin, end, [&](std::uint64_t key) { return label[key & 0xFFFFFFFFU] == wanted; });
    end = begin;
  }
  std::int64_t total = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    total += hits[i];
    result[i] = static_cast<double>(total) / static_cast<double>(points[i].retrieved);
  }
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
  const at::Tensor labels = pool.labels.contiguous(), asked = queries.labels.contiguous();
  at::Tensor precision = at::empty({count, static_cast<std::int64_t>(points.size())}, at::kDouble);
  constexpr std::int64_t queries_at_once = 250;
  for (std::int64_t first = 0; first < count; first += queries_at_once) {
    const std::int64_t rows = std::min(queries_at_once, count - first);
    const at::Tensor cosine = from.narrow(0, first, rows).mm(to.t()).contiguous();
    at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t query = first + row;
        precisions_of(cosine.data_ptr<float>() + row * cosine.size(1), labels, same ? query : -1,
                      asked.data_ptr<std::int64_t>()[query], points,
                      precision.data_ptr<double>() + query * precision.size(1));
      }
    });
  }
  const auto n = static_cast<double>(count);
  const at::Tensor mean = precision.mean(0);
  const at::Tensor half = count > 1 ? 1.96 * precision.std(0) / std::sqrt(n) : at::zeros_like(mean);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    points[i].precision = mean[place].item<double>();
    points[i].low = points[i].precision - half[place].item<double>();
    points[i].high = points[i].precision + half[place].item<double>();
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
