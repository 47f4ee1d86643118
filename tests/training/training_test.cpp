#include "harmonium/training/training.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/data/bars_and_stripes.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "tests/support/machines.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

void expect_equal(const Moments& a, const Moments& b) {
  for (const auto& [name, value] : a.entries()) EXPECT_TRUE(at::equal(value, b[name])) << name;
}

NamedTensors copy_of(const NamedTensors& tensors) {
  NamedTensors copy;
  for (const auto& [name, value] : tensors) copy.emplace_back(name, value.clone());
  return copy;
}

class EveryKindOfTraining : public testing::TestWithParam<std::tuple<std::string, std::string, double>> {};

TEST_P(EveryKindOfTraining, ContinuesBitIdenticallyFromARestoredState) {
  const auto& [gradient, optimizer, momentum] = GetParam();
  const StepOptions step{.rate_bias = 0.1, .rate_weights = 0.1, .momentum = momentum, .weight_decay = 1e-3};
  Training whole = small_training(gradient, optimizer, step);
  NamedTensors saved;
  for (int i = 0; i < 40; ++i) {
    if (i == 17) saved = copy_of(whole.state());
    whole.step();
  }
  Training resumed = small_training(gradient, optimizer, step);
  resumed.restore(17, saved);
  while (!resumed.finished()) resumed.step();
  expect_equal(whole.parameters(), resumed.parameters());
  expect_equal(whole.averaged(), resumed.averaged());
}

INSTANTIATE_TEST_SUITE_P(All, EveryKindOfTraining,
                         testing::Combine(testing::Values("pcd", "cd", "exact", "pt", "tempered"),
                                          testing::Values("sgd", "centering", "enhanced", "fang", "fang_random",
                                                          "diagonal", "block_diagonal", "low_rank", "metric_free",
                                                          "exact"),
                                          testing::Values(0.0, 0.5)));

// Without enumeration these have no statistics for the other optimizers.
INSTANTIATE_TEST_SUITE_P(OtherGradients, EveryKindOfTraining,
                         testing::Combine(testing::Values("fpcd", "mf_cd", "pl"), testing::Values("sgd", "centering"),
                                          testing::Values(0.0)));

TEST(Training, SaysWhatToUseInsteadWhereAnOptimizerHasNothingToLookAt) {
  const Dataset data = random_bits(50, 40);
  const BoltzmannMachine machine = make_rbm("bernoulli:40", "bernoulli:30");
  for (const std::string gradient : {"pl", "mf_cd"}) {
    const std::string message = support::message_of([&] {
      const Training training =
          make_training(machine, BatchStream(data, {.batch = 16}, Key(2)), make_negative_phase(gradient, {}),
                        make_metric("fang", machine.topology(), machine.parameters()), {}, {});
    });
    support::expect_mentions(message, {"optimizer fang", "gradient " + gradient, "optimizer centering"});
  }
}

// Notes the updates at which it was asked.
class Diary final : public Metric {
 public:
  Diary(Topology machine, std::vector<std::string>& lines) : topology_(std::move(machine)), lines_(lines) {}
  [[nodiscard]] std::string name() const override { return "diary"; }
  [[nodiscard]] Cadence cadence() const override { return {.observe_every = 2, .refit_every = 4}; }
  void observe(const Observation& observation) override {
    EXPECT_NE(observation.statistics, nullptr);
    lines_.emplace_back("observe");
  }
  void refit() override { lines_.emplace_back("refit"); }
  [[nodiscard]] Direction solve(const Moments& gradient) const override {
    lines_.emplace_back("solve");
    return without_split(topology_, gradient);
  }
  [[nodiscard]] at::Tensor to_dense() const override { return {}; }
  [[nodiscard]] double log_det() const override { return 0; }
  [[nodiscard]] std::int64_t parameter_count() const override { return 0; }

 private:
  Topology topology_;
  std::vector<std::string>& lines_;
};

TEST(Training, AsksAMetricToObserveAndRefitAsOftenAsItSaysAndBeforeItSolves) {
  const Dataset data = random_bits(50, 6);
  const BoltzmannMachine machine = make_rbm("bernoulli:6", "bernoulli:4");
  std::vector<std::string> lines;
  Training training = make_training(machine.to(at::kFloat), BatchStream(data, {.batch = 16}, Key(2)),
                                    make_negative_phase("pcd", {.sweeps = 1, .particles = 5}),
                                    std::make_unique<Diary>(machine.topology(), lines), {}, {.updates = 5});
  while (!training.finished()) training.step();
  EXPECT_EQ(lines, (std::vector<std::string>{"observe", "refit", "solve", "solve", "observe", "solve", "solve",
                                             "observe", "refit", "solve"}));
}

TEST(Training, ExactGradientAscentRaisesTheExactLikelihoodOfItsData) {
  const Dataset data = bars_and_stripes({.side = 3});
  BoltzmannMachine machine = make_rbm("bernoulli:9", "bernoulli:8");
  initialize(machine, Key(1), 0.1, {{data.column_means().to(at::kFloat)}});
  const auto likelihood = [&](const BoltzmannMachine& m) {
    return log_likelihood(log_unnormalized(m, m.observe({data.to_float()})).mean().item<double>(), exact_log_z(m))
        .value;
  };
  const double before = likelihood(machine);
  auto metric = make_metric("centering", machine.topology(), machine.parameters());
  Training training = make_training(machine.to(at::kFloat), BatchStream(data, {.batch = data.rows()}, Key(2)),
                                    make_negative_phase("exact", {}), std::move(metric),
                                    {.rate_bias = 0.5, .rate_weights = 0.5, .schedule = Schedule::constant},
                                    {.updates = 1500, .averaging = 1});
  double last = before;
  for (int block = 0; block < 5; ++block) {
    for (int i = 0; i < 300; ++i) training.step();
    const double now = likelihood(machine_of(training));
    EXPECT_GT(now, last) << "after update " << training.update();
    last = now;
  }
  // 14 distinct patterns: no model can exceed −log 14 = −2.64; independent pixels reach about −6.2.
  EXPECT_GT(last, -3.3);
  EXPECT_LT(last, -std::log(14.0) + 1e-6);
}

// Without hidden units the data moments are known once and for all: batches must not show.
TEST(Training, OfAMarkovFieldLearnsFromAllDataAtEveryUpdate) {
  const Dataset data = random_bits(50, 6);
  const auto trained = [&](const std::string& gradient, std::int64_t batch) {
    BoltzmannMachine machine = make_mrf("bernoulli:6", at::kDouble);
    auto metric = make_metric("sgd", machine.topology(), machine.parameters());
    Training training = make_training(std::move(machine), BatchStream(data, {.batch = batch}, Key(2)),
                                      make_negative_phase(gradient, {}), std::move(metric),
                                      {.rate_bias = 0.5, .rate_weights = 0.5, .schedule = Schedule::constant},
                                      {.updates = 3, .averaging = 1, .seed = 3});
    while (!training.finished()) training.step();
    return training.parameters().clone();
  };
  EXPECT_TRUE(support::identical(trained("exact", 7), trained("exact", 50)));
  EXPECT_TRUE(support::identical(trained("pcd", 7), trained("pcd", 50)));
  EXPECT_FALSE(support::identical(trained("pl", 7), trained("pl", 50))) << "pseudo-likelihood belongs to its batch";
}

// No random numbers: at the maximum of the likelihood model and data moments agree.
TEST(Training, OfAMarkovFieldReachesTheMomentsOfItsData) {
  for (const std::string optimizer : {"fang", "centering", "sgd"}) {
    SCOPED_TRACE(optimizer);
    const Dataset data = random_bits(60, 5);
    BoltzmannMachine machine = make_mrf("bernoulli:5", at::kDouble);
    initialize(machine, Key(1), 0.1, {{data.column_means()}});
    auto metric = make_metric(optimizer, machine.topology(), machine.parameters(), {.damping = 0.01});
    const double rate = optimizer == "fang" ? 0.1 : 1.0;
    Training training =
        make_training(std::move(machine), BatchStream(data, {.batch = 60}, Key(2)), make_negative_phase("exact", {}),
                      std::move(metric), {.rate_bias = rate, .rate_weights = rate, .schedule = Schedule::constant},
                      {.updates = optimizer == "sgd" ? 3000 : 1000, .averaging = 1, .seed = 3});
    while (!training.finished()) training.step();
    EXPECT_LT(training.gradient_norm(), 1e-3);
    const at::Tensor weights = training.parameters()["visible_visible.weights"];
    EXPECT_TRUE(at::equal(weights, weights.triu(1))) << "what is no pair got a weight";
  }
}

TEST(Training, StopsWithUpdateTensorAndAdviceWhenParametersExplode) {
  Training training = small_training("cd", "sgd", {.rate_bias = 1e9, .rate_weights = 1e9});
  try {
    while (!training.finished()) training.step();
    FAIL() << "training went on";
  } catch (const RunFailure& failure) {
    const std::string message = failure.what();
    EXPECT_NE(message.find("update 10"), std::string::npos) << message;
    EXPECT_NE(message.find("bias"), std::string::npos) << message;
    EXPECT_NE(message.find("rate_weights"), std::string::npos) << message;
  }
}

TEST(Training, DependsOnItsSeedAndOnNothingElse) {
  Training a = small_training("pcd", "centering"), b = small_training("pcd", "centering");
  for (int i = 0; i < 10; ++i) a.step();
  (void)uniform(Key(99), {1000});  // no generator is shared
  for (int i = 0; i < 10; ++i) b.step();
  expect_equal(a.parameters(), b.parameters());
}

TEST(Averaging, IsThePlainMeanUntilItsTimeScaleAndExponentialAfterwards) {
  Averaging averaging(Moments{{"x", at::full({1}, 100.0)}}, 4);
  double plain = 0;
  for (int t = 0; t < 4; ++t) {
    averaging.observe(Moments{{"x", at::full({1}, static_cast<double>(t))}}, t);
    plain += t;
    EXPECT_NEAR(averaging.average()["x"].item<double>(), plain / (t + 1), 1e-6);
  }
  averaging.observe(Moments{{"x", at::full({1}, 9.5)}}, 4);
  EXPECT_NEAR(averaging.average()["x"].item<double>(), 1.5 + (9.5 - 1.5) / 4, 1e-6);
}

}  // namespace
}  // namespace harmonium
