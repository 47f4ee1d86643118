#include "harmonium/nets/lstm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

constexpr std::int64_t lstm_inputs = 3, lstm_units = 2, lstm_rows = 4, lstm_steps = 5;

Moments random_lstm(const LstmCell& cell) {
  Moments parameters;
  cell.declare(parameters, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : parameters.entries())
    at::Tensor(value).copy_(normal(Key(1).fold_in(i++), value.sizes(), at::kDouble));
  return parameters;
}

at::Tensor lstm_sequence() { return normal(Key(2), {lstm_steps, lstm_rows, lstm_inputs}, at::kDouble); }

double squashed(double x) { return 1 / (1 + std::exp(-x)); }

// The formulas, one number at a time: h and c of every row after the last step, rows × 2·units.
at::Tensor plain_lstm(const Moments& parameters, const at::Tensor& inputs) {
  const at::Tensor &W = parameters["cell.weights"], &b = parameters["cell.bias"], &start = parameters["cell.start"];
  at::Tensor result = at::zeros({lstm_rows, 2 * lstm_units}, at::kDouble);
  for (std::int64_t row = 0; row < lstm_rows; ++row) {
    std::array<double, lstm_units> h{}, c{};
    for (std::int64_t unit = 0; unit < lstm_units; ++unit) {
      h[static_cast<std::size_t>(unit)] = start[unit].item<double>();
      c[static_cast<std::size_t>(unit)] = start[lstm_units + unit].item<double>();
    }
    for (std::int64_t step = 0; step < lstm_steps; ++step) {
      const std::array<double, lstm_units> before = h;
      const auto gate = [&](std::int64_t number, std::int64_t unit) {
        const std::int64_t column = number * lstm_units + unit;
        double sum = b[column].item<double>();
        for (std::int64_t i = 0; i < lstm_inputs; ++i)
          sum += inputs[step][row][i].item<double>() * W[i][column].item<double>();
        for (std::int64_t i = 0; i < lstm_units; ++i)
          sum += before[static_cast<std::size_t>(i)] * W[lstm_inputs + i][column].item<double>();
        return sum;
      };
      for (std::int64_t unit = 0; unit < lstm_units; ++unit) {
        double& memory = c[static_cast<std::size_t>(unit)];
        memory = squashed(gate(1, unit)) * memory + squashed(gate(0, unit)) * std::tanh(gate(3, unit));
        h[static_cast<std::size_t>(unit)] = squashed(gate(2, unit)) * std::tanh(memory);
      }
    }
    for (std::int64_t unit = 0; unit < lstm_units; ++unit) {
      result[row][unit] = h[static_cast<std::size_t>(unit)];
      result[row][lstm_units + unit] = c[static_cast<std::size_t>(unit)];
    }
  }
  return result;
}

at::Tensor run_lstm(const LstmCell& cell, const Moments& parameters, const at::Tensor& inputs) {
  LstmCell::State state = cell.begin(parameters, lstm_rows);
  for (const at::Tensor& input : inputs.unbind(0)) state = cell.step(parameters, input, state);
  return at::cat({state.output, state.memory}, 1);
}

TEST(LstmCell, StepsAsItsFormulaSays) {
  const LstmCell cell("cell.", lstm_inputs, lstm_units);
  const Moments parameters = random_lstm(cell);
  const at::Tensor found = run_lstm(cell, parameters, lstm_sequence());
  expect_close(found, plain_lstm(parameters, lstm_sequence()), 1e-14);
  EXPECT_GT(found.abs().min().item<double>(), 1e-3) << "nothing was tested";
}

TEST(LstmCell, HasTheGradientOfDifferencesThroughAllSteps) {
  const LstmCell cell("cell.", lstm_inputs, lstm_units);
  const Moments parameters = random_lstm(cell);
  const at::Tensor inputs = lstm_sequence().requires_grad_();
  const at::Tensor weights = normal(Key(3), {lstm_rows, 2 * lstm_units}, at::kDouble);
  const Moments leaves = parameters.map([](const at::Tensor& value) { return value.clone().requires_grad_(); });
  (run_lstm(cell, leaves, inputs) * weights).sum().backward();
  const auto check = [&](const std::string& name, const at::Tensor& values, const at::Tensor& gradient) {
    ASSERT_TRUE(gradient.defined()) << name;
    at::Tensor flat = values.detach().view({-1});
    const at::Tensor slopes = gradient.reshape({-1});
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      constexpr double h = 1e-5;
      const double before = flat[i].item<double>();
      const auto moved = [&](double to) {
        flat[i] = to;
        return (run_lstm(cell, parameters, inputs.detach()) * weights).sum().item<double>();
      };
      const double slope = (moved(before + h) - moved(before - h)) / (2 * h);
      flat[i] = before;
      EXPECT_NEAR(slopes[i].item<double>(), slope, 1e-8 * (1 + std::abs(slope))) << name << " " << i;
    }
  };
  for (const auto& [name, value] : parameters.entries()) check(name, value, leaves[name].grad());
  check("inputs", inputs, inputs.grad());
}

TEST(LstmCell, BeginsWithOpenForgetGatesAndModerateWeights) {
  const LstmCell cell("cell.", 40, 20);
  Moments parameters;
  cell.declare(parameters, at::kFloat);
  cell.initialize(parameters, Key(4));
  expect_close(parameters["cell.bias"], at::cat({at::zeros({20}), at::ones({20}), at::zeros({40})}).to(at::kDouble), 0);
  EXPECT_EQ(parameters["cell.start"].abs().max().item<double>(), 0);
  const double bound = std::sqrt(6.0 / 80), largest = parameters["cell.weights"].abs().max().item<double>();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.99 * bound);  // of 4800 numbers; not so with probability 1e-21
  // A memory that nothing is written to fades by σ(1) at each step.
  parameters["cell.weights"].zero_();
  parameters["cell.start"].fill_(1);
  const LstmCell::State after = cell.step(parameters, at::ones({2, 40}), cell.begin(parameters, 2));
  expect_close(after.memory, at::full({2, 20}, squashed(1), at::kDouble), 1e-6);
}

TEST(LstmCell, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { LstmCell("cell.", 0, 2); }), {"cell.", "0 and 2"});
  const LstmCell cell("cell.", 3, 2);
  const Moments parameters = random_lstm(cell);
  expect_mentions(message_of([&] {
                    (void)cell.step(parameters, at::zeros({1, 4}, at::kDouble), cell.begin(parameters, 1));
                  }),
                  {"cell.", "3", "4"});
}

}  // namespace
}  // namespace harmonium
