#include "harmonium/geometry/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

Adam adam_for(const at::Tensor& x) { return {{{.names = {"x"}}}, Moments{{"x", x}}}; }
at::Tensor direction_of(Adam& adam, const at::Tensor& gradient, std::int64_t update) {
  return adam.direction(Moments{{"x", gradient}}, update).pairwise["x"];
}

// The recursion of the paper, number by number.
TEST(Adam, IsTheRecursionOfItsPaper) {
  Adam adam = adam_for(at::zeros({3}, at::kDouble));
  double m[3] = {0, 0, 0}, v[3] = {0, 0, 0};
  for (std::int64_t t = 1; t <= 6; ++t) {
    const at::Tensor g = normal(Key(static_cast<std::uint64_t>(t)), {3}, at::kDouble);
    const at::Tensor found = direction_of(adam, g, t - 1);
    for (std::int64_t i = 0; i < 3; ++i) {
      const double gradient = g[i].item<double>();
      m[i] = 0.9 * m[i] + 0.1 * gradient;
      v[i] = 0.999 * v[i] + 0.001 * gradient * gradient;
      const double first = m[i] / (1 - std::pow(0.9, t)), second = v[i] / (1 - std::pow(0.999, t));
      EXPECT_NEAR(found[i].item<double>(), first / (std::sqrt(second) + 1e-8), 1e-10) << t;
    }
  }
}

TEST(Adam, TakesAFirstStepOfOneWhateverTheSizeOfTheGradient) {
  Adam adam = adam_for(at::zeros({2}, at::kDouble));
  const at::Tensor found = direction_of(adam, at::tensor({1e-3, -1e5}, at::kDouble), 0);
  EXPECT_NEAR(found[0].item<double>(), 1, 1e-4);
  EXPECT_NEAR(found[1].item<double>(), -1, 1e-4);
}

// Lengths around those of vectors and blocks; the loops of each type against the recursion in tensor operations.
TEST(Adam, WorksOnTensorsOfEveryLength) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const std::int64_t n : {1, 7, 16, 63, 64, 65, 1000, 40'001}) {
      Adam adam = adam_for(at::zeros({n}, type));
      at::Tensor m = at::zeros({n}, at::kDouble), v = at::zeros({n}, at::kDouble);
      for (std::int64_t t = 1; t <= 3; ++t) {
        const at::Tensor g = normal(Key(7).fold_in(static_cast<std::uint64_t>(t)), {n}, type),
                         exact = g.to(at::kDouble);
        m = 0.9 * m + 0.1 * exact;
        v = 0.999 * v + 0.001 * exact * exact;
        const at::Tensor expected = m / (1 - std::pow(0.9, t)) / ((v / (1 - std::pow(0.999, t))).sqrt() + 1e-8);
        const at::Tensor found = direction_of(adam, g, t - 1);
        const double error = (found.to(at::kDouble) - expected).abs().max().item<double>();
        EXPECT_LT(error, type == at::kFloat ? 2e-5 : 1e-10) << n << " numbers, update " << t;
      }
    }
}

// A gradient that autograd lays out the other way round is taken for what it is.
TEST(Adam, TakesGradientsOfAnyLayout) {
  const at::Tensor g = normal(Key(8), {5, 3}, at::kFloat);
  Adam plain = adam_for(at::zeros({3, 5})), turned = adam_for(at::zeros({3, 5}));
  EXPECT_TRUE(at::equal(direction_of(turned, g.t(), 0), direction_of(plain, g.t().contiguous(), 0)));
}

TEST(Adam, MovesBiasesAtTheUnaryRateAndLeavesOutWhatAGradientLacks) {
  const Moments shape{{"w", at::zeros({2})}, {"b", at::zeros({2})}, {"c", at::zeros({2})}};
  Adam adam({{.names = {"w"}, .kind = ParameterKind::weights, .rate = 0.5},
             {.names = {"b"}, .kind = ParameterKind::bias},
             {.names = {"c"}, .kind = ParameterKind::other}},
            shape);
  const Direction all = adam.direction(shape.map([](const at::Tensor& x) { return at::ones_like(x); }), 0);
  EXPECT_NEAR(all.pairwise["w"][0].item<double>(), 0.5, 1e-6);
  EXPECT_NEAR(all.unary["b"][0].item<double>(), 1, 1e-6);
  EXPECT_NEAR(all.unary["c"][0].item<double>(), 1, 1e-6);
  const NamedTensors before = adam.state();
  const at::Tensor first = find_tensor(before, "first/w", "adam").clone();
  const Direction some = adam.direction(Moments{{"b", at::ones({2})}}, 1);
  EXPECT_TRUE(some.pairwise.empty());
  EXPECT_EQ(some.unary.entries().size(), 1U);
  EXPECT_TRUE(at::equal(find_tensor(adam.state(), "first/w", "adam"), first));
}

}  // namespace
}  // namespace harmonium
