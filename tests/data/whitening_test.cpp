#include "harmonium/data/whitening.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

Dataset correlated_rows() {
  const at::Tensor mixing = at::tensor({2.0, 0.5, 0.0, 0.0, 0.3, 0.1, 0.0, 0.0, 9.0}, at::kDouble).view({3, 3});
  return {.name = "rows", .values = (normal(Key(1), {5000, 3}, at::kDouble).matmul(mixing) + 4).to(at::kFloat)};
}

TEST(Whitening, GivesRowsOfMeanZeroAndUnitCovarianceAndTheirVolume) {
  const Dataset data = correlated_rows();
  for (const std::string kind : {"zca", "columns", "none"}) {
    Whitening by = whitening_of(data, kind);
    const at::Tensor v = by.apply(data.to_float());
    const double volume = by.log_determinant();
    by.spread = 0.5;
    support::expect_close(by.apply(data.to_float()), v / 2, 1e-9);
    support::expect_close(by.undo(v / 2), data.to_float().to(at::kDouble), 1e-9);
    EXPECT_NEAR(by.log_determinant(), volume + 3 * std::log(0.5), 1e-9);
    by.spread = 1;
    support::expect_close(by.undo(v), data.to_float().to(at::kDouble), 1e-9);
    support::expect_close(whitened(data, by).to_float().to(at::kDouble), v, 1e-5);
    if (kind == "none") continue;
    const at::Tensor covariance = v.t().matmul(v) / 5000;
    support::expect_close(v.mean(0), at::zeros({3}, at::kDouble), 1e-4);
    support::expect_close(kind == "zca" ? covariance : at::diag(covariance.diagonal()), at::eye(3, at::kDouble), 1e-4);
  }
  // log|det T| = −½ log|covariance|.
  const at::Tensor d = data.to_float().to(at::kDouble) - data.column_means();
  EXPECT_NEAR(whitening_of(data, "zca").log_determinant(),
              -0.5 * std::get<1>(at::linalg_slogdet(d.t().matmul(d) / 5000)).item<double>(), 1e-4);
}

TEST(Whitening, LivesWithColumnsThatNeverChange) {
  Dataset data = correlated_rows();
  data.values.select(1, 1).fill_(7);
  for (const std::string kind : {"zca", "columns"}) {
    const at::Tensor v = whitening_of(data, kind).apply(data.to_float());
    EXPECT_TRUE(at::isfinite(v).all().item<bool>()) << kind;
    EXPECT_LT(v.select(1, 1).abs().max().item<double>(), 1e-2) << kind;
  }
  data.values.fill_(1);
  EXPECT_THROW((void)whitening_of(data, "zca"), Error);
  EXPECT_THROW((void)whitening_of(data, "pca"), Error);
}

}  // namespace
}  // namespace harmonium
