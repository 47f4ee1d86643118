#include "harmonium/models/checked_cholesky.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(CheckedCholesky, GivesTheFactorsOfABatch) {
  const at::Tensor L = at::tensor({2.0, 0.0, -1.0, 0.5, 1.0, 0.0, 3.0, 4.0}, at::kDouble).view({2, 2, 2});
  EXPECT_LT((checked_cholesky(L.matmul(L.transpose(1, 2)), "these") - L).abs().max().item<double>(), 1e-12);
}

// As damaged files have them: none of these may end in LibTorch's own error, or go on.
TEST(CheckedCholesky, RefusesWhatHasNone) {
  const at::Tensor good = at::eye(2, at::kDouble);
  for (const double bad :
       {-1.0, 0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const at::Tensor two = at::stack({good, at::full({2, 2}, bad, at::kDouble)});
    support::expect_mentions(support::message_of([&] { (void)checked_cholesky(two, "covariances of x"); }),
                             {"covariances of x", "not positive definite"});
  }
}

}  // namespace
}  // namespace harmonium
