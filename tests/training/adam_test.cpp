#include "harmonium/training/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

// The recursion of the paper, number by number.
TEST(Adam, IsTheRecursionOfItsPaper) {
  Adam adam(Moments{{"x", at::zeros({3}, at::kDouble)}});
  double m[3] = {0, 0, 0}, v[3] = {0, 0, 0};
  for (std::int64_t t = 1; t <= 6; ++t) {
    const at::Tensor g = normal(Key(static_cast<std::uint64_t>(t)), {3}, at::kDouble);
    const Moments found = adam.direction(Moments{{"x", g}}, t - 1);
    for (std::int64_t i = 0; i < 3; ++i) {
      const double gradient = g[i].item<double>();
      m[i] = 0.9 * m[i] + 0.1 * gradient;
      v[i] = 0.999 * v[i] + 0.001 * gradient * gradient;
      const double first = m[i] / (1 - std::pow(0.9, t)), second = v[i] / (1 - std::pow(0.999, t));
      EXPECT_NEAR(found["x"][i].item<double>(), first / (std::sqrt(second) + 1e-8), 1e-10) << t;
    }
  }
}

TEST(Adam, TakesAFirstStepOfOneWhateverTheSizeOfTheGradient) {
  Adam adam(Moments{{"x", at::zeros({2}, at::kDouble)}});
  const Moments found = adam.direction(Moments{{"x", at::tensor({1e-3, -1e5}, at::kDouble)}}, 0);
  EXPECT_NEAR(found["x"][0].item<double>(), 1, 1e-4);
  EXPECT_NEAR(found["x"][1].item<double>(), -1, 1e-4);
}

}  // namespace
}  // namespace harmonium
