// How well groups that were found without labels agree with classes. Labels judge here, and nothing else.
//
// With n_ck rows of class k in group c, n rows in all:
//
//   purity    Σ_c max_k n_ck / n: the share that is right where every group is given its most frequent class
//   matched   max over matchings m of Σ_c n_{c, m(c)} / n: every group is given another class, each class at most once
//   NMI       I / ((H_group + H_class)/2), I the mutual information of n_ck/n; 1 where both have one value only
//
// Purity grows with the number of groups, up to 1 with a group for each row; the others do not.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace harmonium {

struct ClusterAgreement {
  std::vector<std::vector<std::int64_t>> counts;  // [group][class]
  double purity = 0, matched = 0, normalized_information = 0;
  std::vector<std::int64_t> matching;  // the class of each group; −1: none
};

// groups: 0 … count − 1 of every row, labels ≥ 0; both int64, at least one row. O(rows + count³).
[[nodiscard]] ClusterAgreement cluster_agreement(const at::Tensor& groups, const at::Tensor& labels,
                                                 std::int64_t count);

// The matching of rows to columns with the largest sum of gains, each column to one row at most: the column of each
// row, or −1. The Hungarian method (Kuhn 1955, Munkres 1957), O(n³) for n the larger side. Gains must be finite.
[[nodiscard]] std::vector<std::int64_t> best_matching(const std::vector<std::vector<double>>& gains);

}  // namespace harmonium
