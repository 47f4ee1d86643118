// Retrieval curves against a plain loop over queries, and latent semantic analysis against a singular value
// decomposition.
#include "harmonium/measures/retrieval_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/error.h"
#include "harmonium/data/corpus.h"
#include "harmonium/kernels/random.h"
#include "harmonium/measures/latent_semantics.h"

namespace harmonium {
namespace {

// Precision at n by sorting each query's neighbours, one by one.
double plain_precision(const Documents& queries, const Documents& pool, bool same, std::int64_t n) {
  double total = 0;
  const std::int64_t rows = queries.codes.size(0);
  for (std::int64_t q = 0; q < rows; ++q) {
    std::vector<std::pair<double, std::int64_t>> ranked;
    for (std::int64_t d = 0; d < pool.codes.size(0); ++d) {
      if (same && d == q) continue;
      const double lengths = queries.codes[q].norm().item<double>() * pool.codes[d].norm().item<double>();
      const double product = queries.codes[q].dot(pool.codes[d]).item<double>();
      ranked.emplace_back(lengths > 0 ? -product / lengths : 0.0, d);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double hits = 0;
    for (std::int64_t i = 0; i < n; ++i)
      hits += pool.labels[ranked[static_cast<std::size_t>(i)].second].item<std::int64_t>() ==
              queries.labels[q].item<std::int64_t>();
    total += hits / static_cast<double>(n);
  }
  return total / static_cast<double>(rows);
}

Documents random_documents(std::uint64_t seed, std::int64_t rows) {
  return {normal(Key(seed), {rows, 4}, at::kFloat),
          (uniform(Key(seed).fold_in(1), {rows}, at::kFloat) * 3).to(at::kLong)};
}

TEST(RetrievalCurve, IsThatOfAPlainLoop) {
  const Documents documents = random_documents(1, 40), pool = random_documents(2, 20);
  const auto among = retrieval_curve(documents), other = retrieval_curve(documents, pool);
  const auto numbers = [](const std::vector<RetrievalPoint>& curve) {
    std::vector<std::int64_t> result;
    for (const RetrievalPoint& point : curve) result.push_back(point.retrieved);
    return result;
  };
  EXPECT_EQ(numbers(among), (std::vector<std::int64_t>{1, 3, 7, 15, 31, 39}));
  EXPECT_EQ(numbers(other), (std::vector<std::int64_t>{1, 3, 7, 15, 20}));
  for (const RetrievalPoint& point : among)
    EXPECT_NEAR(point.precision, plain_precision(documents, documents, true, point.retrieved), 1e-9);
  for (const RetrievalPoint& point : other) {
    EXPECT_NEAR(point.precision, plain_precision(documents, pool, false, point.retrieved), 1e-9);
    EXPECT_LE(point.low, point.precision);
    EXPECT_GE(point.high, point.precision);
  }
}

TEST(RetrievalCurve, HasAnIntervalOfTheMean) {
  // Two of four queries find their class first: 0, 0, 1, 1 has the standard deviation √(1/3).
  const Documents queries{at::ones({4, 1}), at::tensor({0, 0, 1, 1}, at::kLong)};
  const Documents pool{at::tensor({1.0F, -1.0F}).unsqueeze(1), at::tensor({1, 0}, at::kLong)};
  const auto curve = retrieval_curve(queries, pool);
  EXPECT_DOUBLE_EQ(curve.front().precision, 0.5);
  EXPECT_NEAR(curve.front().high - 0.5, 1.96 * std::sqrt(1.0 / 3) / 2, 1e-12);
}

TEST(RetrievalCurve, TakesCodesOfZerosForUnrelated) {
  const Documents documents{at::tensor({1.0F, 0.0F, -1.0F, 2.0F}).unsqueeze(1), at::tensor({0, 0, 1, 0}, at::kLong)};
  const auto curve = retrieval_curve(documents);
  EXPECT_NEAR(curve.back().precision, plain_precision(documents, documents, true, 3), 1e-12);
  EXPECT_NEAR(curve.front().precision, plain_precision(documents, documents, true, 1), 1e-12);
  EXPECT_THROW((void)retrieval_curve(Documents{at::ones({1, 2}), at::zeros({1}, at::kLong)}), Error);
}

TEST(LatentSemantics, SpansTheLeadingSingularVectors) {
  const Dataset documents = corpus(120, Key(3), Key(4), {.words = 30, .topics = 4});
  const at::Tensor counts = documents.to_float().to(at::kDouble);
  const at::Tensor idf = at::log(120 / counts.gt(0).sum(0).to(at::kDouble).clamp_min(1));
  for (const auto& [weighting, table] : {std::pair{WordWeighting::counts, counts},
                                         {WordWeighting::log, at::log1p(counts)},
                                         {WordWeighting::tf_idf, at::log1p(counts) * idf}}) {
    const auto [u, s, vt] = at::linalg_svd(table, /*full_matrices=*/false);
    const at::Tensor expected = u.narrow(1, 0, 3) * s.narrow(0, 0, 3);
    const at::Tensor found = LatentSemantics(documents, weighting, 3).encode(documents.to_float());
    EXPECT_TRUE(at::allclose(found.abs(), expected.abs(), 1e-8, 1e-8)) << to_string(weighting);
    EXPECT_TRUE(at::allclose(WeightedWords(documents, weighting).weigh(documents.to_float()), table, 1e-12, 1e-12));
  }
  EXPECT_THROW(LatentSemantics(documents, WordWeighting::log, 31), Error);
}

}  // namespace
}  // namespace harmonium
