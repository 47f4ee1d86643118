// Twins against what they stand for: two binary units under one field, all their states written out.
#include "harmonium/units/twin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;

class Twins : public testing::Test {
 protected:
  static constexpr std::int64_t width = 3, rows = 6;

  // Σ over the four states of two copies (a, b) of e^{field (a + b) / 2} g((a + b) / 2), unit by unit.
  [[nodiscard]] at::Tensor sum_over_copies(const std::function<double(double)>& g) const {
    at::Tensor total = at::zeros({rows, width}, at::kDouble);
    for (const int a : {0, 1})
      for (const int b : {0, 1}) total += (field * (0.5 * (a + b))).exp() * g(0.5 * (a + b));
    return total;
  }

  const Twin unit{width};
  const Unit::Parameters none = {at::zeros({width}, at::kDouble)};
  const at::Tensor field = 2 * normal(Key(61), {rows, width}, at::kDouble);
};

TEST_F(Twins, SumOverBothCopies) {
  const at::Tensor z = sum_over_copies([](double) { return 1; });
  const auto expected = [&](const std::function<double(double)>& g) { return sum_over_copies(g) / z; };
  expect_close(unit.log_partition(field, none), z.log().sum(1), 1e-12);
  const at::Tensor mean = expected([](double x) { return x; }), square = expected([](double x) { return x * x; });
  expect_close(unit.mean(field, none), mean, 1e-12);
  expect_close(unit.expected_square(field, none), square, 1e-12);
  expect_close(unit.conditional_covariance(field, none, {}), at::diag((square - mean * mean).mean(0)), 1e-12);
  // Relative to the measure of x: −E[log of a copies' state], as those four are alike but for the field.
  expect_close(unit.entropy(field, none), (z.log() - field * mean).sum(1), 1e-12);
}

TEST_F(Twins, HaveAModeOfTheMostProbableMean) {
  const at::Tensor mode = unit.mode(field, none);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < width; ++i) {
      const double f = field[row][i].item<double>();
      const std::vector<double> weights = {1, 2 * std::exp(f / 2), std::exp(f)};  // of 0, ½, 1
      const auto best = std::max_element(weights.begin(), weights.end()) - weights.begin();
      EXPECT_EQ(mode[row][i].item<double>(), 0.5 * static_cast<double>(best));
    }
}

// Chi-square over the three values, false-alarm rate 1e-6.
TEST_F(Twins, AreDrawnAsTwoCopiesAre) {
  constexpr std::int64_t draws = 100'000;
  for (const double f : {-1.5, 0.0, 2.0}) {
    const at::Tensor x = Twin(1).sample(Key(62), at::full({draws, 1}, f, at::kDouble), {at::zeros({1}, at::kDouble)});
    const double p = 1 / (1 + std::exp(-f / 2));
    support::Row counts;
    for (const double value : {0.0, 0.5, 1.0}) counts.push_back(x.eq(value).sum().item<double>());
    support::expect_frequencies(counts, {(1 - p) * (1 - p), 2 * p * (1 - p), p * p});
  }
}

TEST_F(Twins, RecoverTheirBiasFromTheirMean) {
  const at::Tensor bias = field[0];
  expect_close(unit.parameters_of({unit.mean(bias.unsqueeze(0), none)[0]}, 0)[0], bias, 1e-12);
}

TEST_F(Twins, AreNamedAndTakeProbabilities) {
  EXPECT_EQ(make_unit("twin:7")->spec(), "twin:7");
  EXPECT_EQ(make_unit("twin:7")->width(), 7);
  EXPECT_FALSE(unit.indicator());
  EXPECT_FALSE(unit.state_count().has_value());
  EXPECT_EQ(unit.complaint(at::full({1, width}, 0.3)), "");
  EXPECT_NE(unit.complaint(at::full({1, width}, 1.3)), "");
}

}  // namespace
}  // namespace harmonium
