#include "harmonium/measures/asked_labels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers rows_of(const std::vector<AskedRow>& asked) {
  Numbers rows;
  for (const AskedRow& each : asked) rows.push_back(each.row);
  return rows;
}

// Group 0 has rows 0, 2, 3 and 5, group 2 rows 1 and 4, group 1 none.
at::Tensor example() {
  return at::tensor({5.0, 0.0, 0.0, 0.0, 0.0, 1.0, 9.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 4.0, 3.0, 0.0, 0.0},
                    at::kDouble)
      .view({6, 3});
}

TEST(AskedLabels, MarginsAreThoseOfTheFormula) {
  const at::Tensor margin = margins_of(at::tensor({3.0, 1.0, 2.0, 0.0, 0.0, -7.0}, at::kDouble).view({2, 3}));
  EXPECT_NEAR(margin[0].item<double>(), 3 - std::log(std::exp(1.0) + std::exp(2.0)), 1e-12);
  EXPECT_NEAR(margin[1].item<double>(), -std::log1p(std::exp(-7.0)), 1e-12);
  EXPECT_EQ(groups_of(at::tensor({0.0, 0.0, -7.0}, at::kDouble).view({1, 3})).item<std::int64_t>(), 0);
  EXPECT_EQ(margins_of(at::ones({1, 1})).item<double>(), std::numeric_limits<double>::infinity());
}

// Probabilities of both rows are 1 in float64; the margin still knows the surer one.
TEST(AskedLabels, TellsRowsApartWhoseSharesRoundToOne) {
  const at::Tensor weights = at::tensor({100.0, 0.0, 200.0, 0.0}, at::kDouble).view({2, 2});
  EXPECT_EQ(rows_of(rows_to_ask(weights, 2)), (Numbers{1}));
}

TEST(AskedLabels, AreAskedOfTheSurestRowOfEveryGroupThatHasRows) {
  // Rows 2 and 3 are equally sure: the first counts. The larger group comes first; the empty one costs nothing.
  EXPECT_EQ(rows_of(rows_to_ask(example(), 3)), (Numbers{2, 4}));
  EXPECT_EQ(rows_of(rows_to_ask(example(), 1)), (Numbers{2}));
  EXPECT_EQ(rows_of(rows_to_ask(example(), 4)), (Numbers{2, 4, 3, 1}));
  EXPECT_EQ(rows_of(rows_to_ask(example(), 100)), (Numbers{2, 4, 3, 1, 0, 5}));
  EXPECT_THROW((void)rows_to_ask(example(), 0), Error);
}

TEST(AskedLabels, AreTheMostFrequentAnswerAndThenTheSurest) {
  const std::vector<AskedRow> asked = rows_to_ask(example(), 100);
  EXPECT_EQ(labels_of_groups(asked, {7, 8, 9, 9, 9, 7}, 3), (Numbers{7, -1, 8}));
  EXPECT_EQ(labels_of_groups(asked, {7, 8, 9, 8, 9, 9}, 3), (Numbers{9, -1, 8}));
}

TEST(AskedLabels, GiveRowsOfUnlabelledGroupsTheLikeliestLabelledOne) {
  const at::Tensor weights = at::tensor({9.0, 2.0, 1.0, 0.0, 5.0, 3.0, 0.0, 1.0, 6.0}, at::kDouble).view({3, 3});
  EXPECT_TRUE(at::equal(labels_by_groups(weights, {4, -1, 2}), at::tensor({4, 2, 2}, at::kLong)));
  EXPECT_THROW((void)labels_by_groups(weights, {-1, -1, -1}), Error);
}

TEST(AskedLabels, MajoritiesUseAllLabels) {
  EXPECT_EQ(majority_labels(at::tensor({0, 0, 0, 2, 2}, at::kLong), at::tensor({1, 3, 3, 5, 4}, at::kLong), 3),
            (Numbers{3, -1, 4}));
}

}  // namespace
}  // namespace harmonium
