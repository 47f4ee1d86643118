// How well codes find documents of the same class: every query ranks the documents of a pool by the cosine of their
// codes; precision at n is the share of the query's class among the n nearest, averaged over queries.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace harmonium {

struct Documents {
  at::Tensor codes;   // rows × numbers
  at::Tensor labels;  // rows, int64
};

struct RetrievalPoint {
  std::int64_t retrieved = 0;  // n
  double precision = 0;        // mean over queries
  double low = 0, high = 0;    // 95 % interval of that mean, as if queries were independent
};

// At n = 1, 3, 7, 15, … and the size of the pool. A code of zeros is at a right angle to all; of equally near documents
// the first of the pool is the nearer.
[[nodiscard]] std::vector<RetrievalPoint> retrieval_curve(const Documents& queries, const Documents& pool);
// The same for documents among themselves: each is a query once, and not in its own pool. At least two are needed.
[[nodiscard]] std::vector<RetrievalPoint> retrieval_curve(const Documents& documents);

}  // namespace harmonium
