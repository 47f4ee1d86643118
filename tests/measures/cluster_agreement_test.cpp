#include "harmonium/measures/cluster_agreement.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

at::Tensor whole(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }

// The best of all ways to give rows different columns, one after the other.
double best_by_enumeration(const std::vector<std::vector<double>>& gains) {
  const std::size_t rows = gains.size(), columns = gains.front().size();
  std::vector<std::size_t> order(std::max(rows, columns));
  std::iota(order.begin(), order.end(), 0U);
  double best = -1e300;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i)
      if (order[i] < columns) sum += gains[i][order[i]];
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(BestMatching, IsTheBestOfAllMatchings) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(seed % 6),
                       columns = 1 + static_cast<std::int64_t>(seed % 5);
    const at::Tensor drawn = uniform(Key(seed), {rows, columns}, at::kDouble);
    const at::Tensor table = seed % 2 == 0 ? drawn : (drawn * 4).floor();  // with many ties
    std::vector<std::vector<double>> gains;
    for (std::int64_t i = 0; i < rows; ++i)
      gains.emplace_back(table.data_ptr<double>() + i * columns, table.data_ptr<double>() + (i + 1) * columns);
    const std::vector<std::int64_t> found = best_matching(gains);
    double sum = 0;
    std::vector<std::int64_t> taken;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] >= 0) {
        sum += gains[i][static_cast<std::size_t>(found[i])];
        taken.push_back(found[i]);
      }
    std::ranges::sort(taken);
    EXPECT_EQ(std::ranges::adjacent_find(taken), taken.end()) << "a column is given twice";
    EXPECT_EQ(static_cast<std::int64_t>(taken.size()), std::min(rows, columns));
    EXPECT_NEAR(sum, best_by_enumeration(gains), 1e-12) << rows << " × " << columns;
  }
}

TEST(ClusterAgreement, IsWholeWhereGroupsAreClassesUnderOtherNames) {
  const ClusterAgreement found = cluster_agreement(whole({2, 2, 0, 0, 1}), whole({0, 0, 1, 1, 2}), 4);
  EXPECT_DOUBLE_EQ(found.purity, 1);
  EXPECT_DOUBLE_EQ(found.matched, 1);
  EXPECT_NEAR(found.normalized_information, 1, 1e-12);
  EXPECT_EQ(found.matching, (std::vector<std::int64_t>{1, 2, 0, -1}));
  EXPECT_EQ(found.counts[2], (std::vector<std::int64_t>{2, 0, 0}));
}

// Six rows by hand: groups {a a b}, {a b}, {b}.
TEST(ClusterAgreement, CountsAsItsFormulasSay) {
  const ClusterAgreement found = cluster_agreement(whole({0, 0, 0, 1, 1, 2}), whole({0, 0, 1, 0, 1, 1}), 3);
  EXPECT_DOUBLE_EQ(found.purity, 4.0 / 6);
  EXPECT_DOUBLE_EQ(found.matched, 3.0 / 6) << "two of the three groups have a class";
  const auto h = [](std::initializer_list<double> shares) {
    double sum = 0;
    for (const double p : shares) sum -= p * std::log(p);
    return sum;
  };
  const double groups = h({0.5, 1 / 3.0, 1 / 6.0}), classes = h({0.5, 0.5}),
               both = h({2 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0});
  EXPECT_NEAR(found.normalized_information, (groups + classes - both) / ((groups + classes) / 2), 1e-12);
}

TEST(ClusterAgreement, KnowsNothingOfClassesWhereGroupsAreIndependentOfThem) {
  const ClusterAgreement found = cluster_agreement(whole({0, 0, 1, 1}), whole({0, 1, 0, 1}), 2);
  EXPECT_NEAR(found.normalized_information, 0, 1e-12);
  EXPECT_DOUBLE_EQ(found.matched, 0.5);
  EXPECT_DOUBLE_EQ(cluster_agreement(whole({0, 0}), whole({0, 0}), 1).normalized_information, 1);
  EXPECT_THROW((void)cluster_agreement(whole({0, 2}), whole({0, 0}), 2), Error);
}

}  // namespace
}  // namespace harmonium
