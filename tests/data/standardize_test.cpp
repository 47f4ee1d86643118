#include "harmonium/data/standardize.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(Standardize, GivesColumnsOfMeanZeroAndDeviationOne) {
  const at::Tensor s = at::tensor({0.5, 20.0, 3.0}, at::kDouble), m = at::tensor({-1.0, 100.0, 0.0}, at::kDouble);
  Dataset data{.name = "rows", .values = (m + s * normal(Key(1), {50'000, 3}, at::kDouble)).to(at::kFloat)};
  const Standardization by = standardization_of(data);
  const at::Tensor values = standardized(data, by).to_float().to(at::kDouble);
  support::expect_close(values.mean(0), at::zeros({3}, at::kDouble), 1e-5);
  support::expect_close(values.std(0, /*unbiased=*/false), at::ones({3}, at::kDouble), 1e-5);
  EXPECT_NEAR(by.log_volume(), s.log().sum().item<double>(), 0.05);
  support::expect_close(by.mean + by.deviation * values, data.to_float().to(at::kDouble), 1e-5);
}

TEST(Standardize, RefusesColumnsThatCannotBe) {
  Dataset data{.name = "rows", .values = normal(Key(2), {100, 4}).contiguous()};
  data.values.select(1, 2).fill_(7);
  support::expect_mentions(support::message_of([&] { (void)standardization_of(data); }),
                           {"rows", "columns 3 ", "same value", "Leave them out"});
  data.values.select(1, 2).copy_(1e5F + normal(Key(3), {100}));
  support::expect_mentions(support::message_of([&] { (void)standardization_of(data); }),
                           {"columns 3 ", "1000 deviations", "Subtract"});
}

}  // namespace
}  // namespace harmonium
