// Steps in means and log precisions (models/means_form.h): the same in any units of the data.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/training/make_training.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Two columns, one 250 times as wide as the other, and components that differ by 2.5 deviations in both.
BoltzmannMachine teacher_of_two_widths() {
  const BoltzmannMachine teacher = make_rbm("gaussian:2", "bernoulli:2", at::kDouble);
  const at::Tensor deviation = at::tensor({0.02, 5.0}, at::kDouble), precision = deviation.square().reciprocal();
  const Moments& theta = teacher.parameters();
  at::Tensor(theta["visible.precision"]).copy_(precision);
  at::Tensor(theta["visible_hidden.weights"])
      .copy_((precision * deviation).unsqueeze(1) * at::tensor({2.5, -2.5, 2.5, 2.5}, at::kDouble).view({2, 2}));
  at::Tensor(theta["hidden.bias"]).fill_(-6.25);
  return teacher;
}

double mean_log_likelihood(const BoltzmannMachine& machine, const at::Tensor& rows) {
  return log_unnormalized(machine, machine.observe({rows})).mean().item<double>() - exact_log_z(machine).value;
}

Training training_of(const at::Tensor& rows, Coordinates coordinates, const std::string& optimizer = "sgd",
                     const at::Tensor& units = at::ones({2})) {
  // Begins at components twice as wide and half as far apart, in any units of the data.
  BoltzmannMachine machine = make_rbm("gaussian:2", "bernoulli:2");
  const at::Tensor deviation = at::tensor({0.04F, 10.0F}) * units.to(at::kFloat),
                   precision = deviation.square().reciprocal();
  const Moments& theta = machine.parameters();
  at::Tensor(theta["visible.precision"]).copy_(precision);
  at::Tensor(theta["visible_hidden.weights"])
      .copy_((precision * deviation).unsqueeze(1) * at::tensor({1.0F, -1.0F, 1.0F, 1.0F}).view({2, 2}));
  at::Tensor(theta["hidden.bias"]).fill_(-1);
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters());
  return make_training(std::move(machine),
                       BatchStream({.name = "draws", .values = rows.to(at::kFloat)},
                                   {.batch = 500, .binarization = Binarization::none}, Key(3)),
                       make_negative_phase("exact", {}), std::move(metric),
                       {.rate_bias = 0.1, .rate_weights = 0.1, .schedule = Schedule::linear},
                       {.updates = 3000, .averaging = 20, .seed = 4}, {}, {}, coordinates);
}

TEST(MeansTraining, LearnsColumnsOfVeryDifferentWidthAtOneRate) {
  const BoltzmannMachine teacher = teacher_of_two_widths();
  const at::Tensor rows = exact_sample(teacher, Key(1), 20'000).layers[0];
  const double best = mean_log_likelihood(teacher, rows);
  Training training = training_of(rows, Coordinates::means);
  const auto behind = [&] { return best - mean_log_likelihood(averaged_machine(training).to(at::kDouble), rows); };
  EXPECT_GT(behind(), 0.1);
  while (!training.finished()) training.step();
  EXPECT_LT(behind(), 0.05);
}

// Powers of two change no digits, so that rounding is the same in both units.
TEST(MeansTraining, TakesTheSameStepsInOtherUnits) {
  const at::Tensor rows = exact_sample(teacher_of_two_widths(), Key(1), 1000).layers[0];
  const at::Tensor units = at::tensor({64.0, 0.0625}, at::kDouble);
  Training here = training_of(rows, Coordinates::means),
           there = training_of(rows * units, Coordinates::means, "sgd", units);
  for (int i = 0; i < 50; ++i) {
    here.step();
    there.step();
  }
  const Moments mine = here.parameters().to(at::kDouble), theirs = there.parameters().to(at::kDouble);
  const auto expect_equal = [](const at::Tensor& a, const at::Tensor& b) {
    EXPECT_LT(((a - b) / b).abs().max().item<double>(), 1e-3);
  };
  expect_equal(theirs["visible.precision"] * units.square(), mine["visible.precision"]);
  expect_equal(theirs["visible.bias"] * units, mine["visible.bias"]);
  expect_equal(theirs["visible_hidden.weights"] * units.unsqueeze(1), mine["visible_hidden.weights"]);
  expect_equal(theirs["hidden.bias"], mine["hidden.bias"]);
}

TEST(MeansTraining, ContinuesBitIdenticallyFromARestoredState) {
  const at::Tensor rows = exact_sample(teacher_of_two_widths(), Key(1), 1000).layers[0];
  Training whole = training_of(rows, Coordinates::means);
  NamedTensors saved;
  for (int i = 0; i < 40; ++i) {
    if (i == 17)
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
    whole.step();
  }
  Training resumed = training_of(rows, Coordinates::means);
  resumed.restore(17, saved);
  for (int i = 17; i < 40; ++i) resumed.step();
  for (const auto& [name, value] : whole.parameters().entries())
    EXPECT_TRUE(at::equal(value, resumed.parameters()[name])) << name;
}

TEST(MeansTraining, IsForPlainGradients) {
  const at::Tensor rows = exact_sample(teacher_of_two_widths(), Key(1), 1000).layers[0];
  const std::string message = support::message_of([&] { (void)training_of(rows, Coordinates::means, "fang"); });
  support::expect_mentions(message, {"coordinates means", "optimizer sgd", "fang"});
}

}  // namespace
}  // namespace harmonium
