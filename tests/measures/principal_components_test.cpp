#include "harmonium/measures/principal_components.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

Dataset stretched_rows() {
  const at::Tensor scale = at::tensor({3.0, 0.5, 2.0, 1.0, 0.2}, at::kDouble);
  return {.name = "rows", .values = (normal(Key(1), {200, 5}, at::kDouble) * scale + 1.5).to(at::kFloat)};
}

// The best rank-k approximation of the centered table is that of its singular value decomposition (Eckart & Young).
TEST(PrincipalComponents, LoseWhatTheSmallSingularValuesHold) {
  const Dataset data = stretched_rows();
  const at::Tensor rows = data.to_float().to(at::kDouble);
  const at::Tensor singular = std::get<1>(at::linalg_svd(rows - rows.mean(0), /*full_matrices=*/false));
  for (std::int64_t k = 1; k <= 5; ++k) {
    const PrincipalComponents components(data, k);
    const double lost = (components.reconstruct(rows) - rows).square().sum().item<double>();
    EXPECT_NEAR(lost, singular.narrow(0, k, 5 - k).square().sum().item<double>(), 1e-8 * (1 + lost)) << k;
    EXPECT_EQ(components.encode(rows).size(1), k);
  }
}

TEST(PrincipalComponents, AreOrderedAndUncorrelated) {
  const Dataset data = stretched_rows();
  const at::Tensor codes = PrincipalComponents(data, 3).encode(data.to_float());
  const at::Tensor moments = codes.t().matmul(codes) / 200;
  EXPECT_GT(moments[0][0].item<double>(), moments[1][1].item<double>());
  EXPECT_GT(moments[1][1].item<double>(), moments[2][2].item<double>());
  EXPECT_LT((moments - at::diag(moments.diag())).abs().max().item<double>(), 1e-8);
  EXPECT_THROW(PrincipalComponents(data, 6), Error);
  EXPECT_THROW(PrincipalComponents(data, 0), Error);
}

}  // namespace
}  // namespace harmonium
