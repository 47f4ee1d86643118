// The largest change of a table in units of rows and columns, against tensor operations.
#include "harmonium/kernels/scaled_change.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

TEST(ScaledChange, IsTheLargestProductOfChangeAndScales) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const std::int64_t columns : {1, 15, 16, 50}) {
      const at::Tensor before = normal(Key(1), {7, columns}, type), after = before + normal(Key(2), {7, columns}, type);
      const at::Tensor rows = uniform(Key(3), {7}, type) + 0.5, widths = uniform(Key(4), {columns}, type) + 0.5;
      const double expected =
          ((after - before).abs() * rows.unsqueeze(1) * widths).max().to(at::kDouble).item<double>();
      const double found = largest_scaled_change(after, before, rows, widths).item<double>();
      EXPECT_NEAR(found, expected, type == at::kFloat ? 1e-5 : 1e-14) << columns;
    }
}

TEST(ScaledChange, SeesEveryPlaceAndPassesOverNaN) {
  const at::Tensor before = at::zeros({3, 37}, at::kDouble), rows = at::ones({3}, at::kDouble),
                   columns = at::ones({37}, at::kDouble);
  for (std::int64_t place = 0; place < 3 * 37; ++place) {
    at::Tensor after = before.clone();
    after.view({-1})[place].fill_(-2);
    after.view({-1})[(place + 1) % (3 * 37)].fill_(std::nan(""));
    EXPECT_EQ(largest_scaled_change(after, before, rows, columns).item<double>(), 2) << place;
  }
}

}  // namespace
}  // namespace harmonium
