#include "harmonium/nets/gru.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harmonium/kernels/random.h"
#include "tests/support/differences.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

constexpr std::int64_t gru_inputs = 3, gru_units = 2, gru_rows = 4, gru_steps = 5;

Moments random_gru(const GruCell& cell) {
  Moments parameters;
  cell.declare(parameters, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : parameters.entries())
    at::Tensor(value).copy_(normal(Key(1).fold_in(i++), value.sizes(), at::kDouble));
  return parameters;
}

at::Tensor gru_sequence() { return normal(Key(2), {gru_steps, gru_rows, gru_inputs}, at::kDouble); }

double gru_gate(double x) { return 1 / (1 + std::exp(-x)); }

// The formulas, one number at a time: h of every row after the last step.
at::Tensor plain_gru(const Moments& parameters, const at::Tensor& inputs) {
  const at::Tensor &W = parameters["cell.input_weights"], &V = parameters["cell.state_weights"],
                   &b = parameters["cell.bias"];
  at::Tensor result = at::zeros({gru_rows, gru_units}, at::kDouble);
  for (std::int64_t row = 0; row < gru_rows; ++row) {
    std::vector<double> h;
    for (std::int64_t unit = 0; unit < gru_units; ++unit) h.push_back(parameters["cell.start"][unit].item<double>());
    for (std::int64_t step = 0; step < gru_steps; ++step) {
      const auto given = [&](std::int64_t column) {
        double sum = b[column].item<double>();
        for (std::int64_t i = 0; i < gru_inputs; ++i)
          sum += inputs[step][row][i].item<double>() * W[i][column].item<double>();
        return sum;
      };
      const auto kept = [&](std::int64_t column) {
        double sum = 0;
        for (std::int64_t i = 0; i < gru_units; ++i)
          sum += h[static_cast<std::size_t>(i)] * V[i][column].item<double>();
        return sum;
      };
      std::vector<double> after;
      for (std::int64_t unit = 0; unit < gru_units; ++unit) {
        const std::int64_t u = unit, g = gru_units + unit, a = 2 * gru_units + unit;
        const double z = gru_gate(given(u) + kept(u));
        const double proposed = std::tanh(given(a) + gru_gate(given(g) + kept(g)) * kept(a));
        after.push_back(z * h[static_cast<std::size_t>(unit)] + (1 - z) * proposed);
      }
      h = after;
    }
    for (std::int64_t unit = 0; unit < gru_units; ++unit) result[row][unit] = h[static_cast<std::size_t>(unit)];
  }
  return result;
}

at::Tensor run_gru(const GruCell& cell, const Moments& parameters, const at::Tensor& inputs) {
  at::Tensor state = cell.begin(parameters, gru_rows);
  for (const at::Tensor& input : inputs.unbind(0)) state = cell.step(parameters, input, state);
  return state;
}

TEST(GruCell, StepsAsItsFormulaSays) {
  const GruCell cell("cell.", gru_inputs, gru_units);
  const Moments parameters = random_gru(cell);
  const at::Tensor found = run_gru(cell, parameters, gru_sequence());
  expect_close(found, plain_gru(parameters, gru_sequence()), 1e-14);
  EXPECT_GT(found.abs().min().item<double>(), 1e-3) << "nothing was tested";
}

TEST(GruCell, HasTheGradientOfDifferencesThroughAllSteps) {
  const GruCell cell("cell.", gru_inputs, gru_units);
  const Moments parameters = random_gru(cell);
  const at::Tensor weights = normal(Key(3), {gru_rows, gru_units}, at::kDouble);
  support::expect_gradient_of_differences(
      parameters, [&](const Moments& moved) { return (run_gru(cell, moved, gru_sequence()) * weights).sum(); }, 1e-8);
}

TEST(GruCell, BeginsWithModerateWeightsAndForgetsByHalf) {
  const GruCell cell("cell.", 40, 20);
  Moments parameters;
  cell.declare(parameters, at::kFloat);
  cell.initialize(parameters, Key(4));
  EXPECT_EQ(parameters["cell.bias"].abs().max().item<double>(), 0);
  const double bound = std::sqrt(6.0 / 80);
  for (const char* name : {"cell.input_weights", "cell.state_weights"}) {
    const double largest = parameters[name].abs().max().item<double>();
    EXPECT_LE(largest, bound);
    EXPECT_GT(largest, 0.99 * bound);  // of 1200 numbers or more; not so with probability 1e-5
    parameters[name].zero_();
  }
  parameters["cell.start"].fill_(1);
  expect_close(cell.step(parameters, at::ones({2, 40}), cell.begin(parameters, 2)), at::full({2, 20}, 0.5, at::kDouble),
               1e-6);
}

TEST(GruCell, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { GruCell("cell.", 0, 2); }), {"cell.", "0 and 2"});
  const GruCell cell("cell.", 3, 2);
  const Moments parameters = random_gru(cell);
  expect_mentions(message_of([&] {
                    (void)cell.step(parameters, at::zeros({1, 4}, at::kDouble), cell.begin(parameters, 1));
                  }),
                  {"cell.", "3", "4"});
}

}  // namespace
}  // namespace harmonium
