#include "harmonium/likelihood/rising_bounds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// log of means of groups that follow each other, by the definition.
at::Tensor by_groups(const at::Tensor& log_w, std::int64_t size) {
  const std::int64_t groups = log_w.size(1) / size;
  return (at::logsumexp(log_w.narrow(1, 0, groups * size).reshape({log_w.size(0), groups, size}), 2) -
          std::log(static_cast<double>(size)))
      .mean(1);
}

TEST(RisingBounds, AreMeansOverGroupsHoweverDrawsAreSplit) {
  constexpr std::int64_t draws = 2345;
  const at::Tensor log_w = 2 * normal(Key(1), {3, draws}, at::kDouble) - 700;
  for (const std::int64_t piece : {1, 7, 10, 999, 2345}) {
    SCOPED_TRACE(piece);
    RisingBounds bounds(3, draws, at::kDouble);
    for (std::int64_t done = 0; done < draws; done += piece)
      bounds.add(log_w.narrow(1, done, std::min(piece, draws - done)));
    const at::Tensor found = bounds.bounds();
    ASSERT_EQ(found.sizes(), (std::vector<std::int64_t>{3, 4})) << "1, 10, 100 and 1000 draws";
    for (std::int64_t power = 0, size = 1; power < 4; ++power, size *= 10)
      support::expect_close(found.select(1, power), by_groups(log_w, size), 1e-10);
  }
}

TEST(RisingBounds, StopBelowTheNumberOfDraws) {
  for (const auto& [draws, powers] : std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 1}, {10, 1}, {11, 2}}) {
    RisingBounds bounds(1, draws, at::kDouble);
    bounds.add(at::zeros({1, draws}, at::kDouble));
    support::expect_close(bounds.bounds(), at::zeros({1, powers}, at::kDouble), 1e-12);
  }
  EXPECT_THROW(RisingBounds(1, 1, at::kDouble), Error);
}

}  // namespace
}  // namespace harmonium
