#include "harmonium/likelihood/weight_tails.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/weights.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

at::Tensor shapes_in_pieces(const at::Tensor& log_w, std::int64_t piece) {
  WeightTails tails(log_w.size(1));
  for (std::int64_t done = 0; done < log_w.size(1); done += piece)
    tails.add(log_w.narrow(1, done, std::min(piece, log_w.size(1) - done)));
  return tails.shapes();
}

TEST(WeightTails, AreThoseOfAllWeightsAtOnce) {
  const at::Tensor log_w =
      at::tensor({0.2, 1.0, 3.0}, at::kDouble).unsqueeze(1) * normal(Key(1), {3, 700}, at::kDouble);
  for (const std::int64_t piece : {1, 60, 699, 700}) {
    const at::Tensor found = shapes_in_pieces(log_w - 500, piece);
    for (std::int64_t row = 0; row < 3; ++row)
      EXPECT_NEAR(found[row].item<double>(), *diagnose(log_w[row]).pareto_k, 1e-10) << piece << ", row " << row;
  }
  EXPECT_FALSE(shapes_in_pieces(log_w.narrow(1, 0, 24), 10).defined()) << "too few for an opinion";
}

// Weights u^{−k} of uniform u have a Pareto tail of exactly that shape. With 10⁵ of them the tail has 949, and the
// standard error of its shape is about (1 + k)/√949 < 0.07; 0.3 is more than four of them in each of five cases, and
// each is as far as that from 0.7.
TEST(WeightTails, KnowHeavyOnesFromLightOnes) {
  const std::vector<double> shapes = {0.1, 0.25, 0.4, 1.0, 1.1};
  std::vector<at::Tensor> rows;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    rows.push_back(-shapes[i] * at::log1p(-uniform(Key(2).fold_in(i), {100'000}, at::kDouble)));
  const at::Tensor found = shapes_in_pieces(at::stack(rows), 10'000);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto k = found[static_cast<std::int64_t>(i)].item<double>();
    EXPECT_NEAR(k, shapes[i], 0.3);
    EXPECT_EQ(k > WeightTails::heavy, shapes[i] > WeightTails::heavy) << shapes[i];
  }
}

// A proposal N(0, s²) for the target N(0, 1): weights have the shape 1 − s² in the limit, so that too narrow an encoder
// is found out, and one that is wide enough is not blamed.
TEST(WeightTails, FindOutAProposalThatIsTooNarrow) {
  const at::Tensor deviation = at::tensor({0.2, 0.3, 1.0, 1.3}, at::kDouble).unsqueeze(1);
  const at::Tensor z = deviation * normal(Key(3), {4, 50'000}, at::kDouble);
  const at::Tensor found = shapes_in_pieces(-0.5 * z.square() + 0.5 * (z / deviation).square(), 10'000);
  EXPECT_GT(found[0].item<double>(), WeightTails::heavy);
  EXPECT_GT(found[1].item<double>(), WeightTails::heavy);
  EXPECT_LT(found[2].item<double>(), 0.5) << "all weights alike";
  EXPECT_LT(found[3].item<double>(), 0.5) << "weights are bounded";
}

}  // namespace
}  // namespace harmonium
