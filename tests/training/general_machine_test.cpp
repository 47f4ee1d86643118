// A general Boltzmann machine learnt from a teacher of the same kind, by every way of inference, judged by enumeration.
#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/machines.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

constexpr std::int64_t seen_units = 6, hidden_units = 3;

// log p of every visible state.
at::Tensor log_probabilities(const BoltzmannMachine& machine) {
  const at::Tensor states = machine.unit(0).states(at::arange(1 << seen_units, at::kLong), at::kDouble);
  return log_marginal(machine.to(at::kDouble), machine.to(at::kDouble).observe({states}), {.most_work = 1e9}).log_f -
         exact_log_z(machine).value;
}

double divergence(const at::Tensor& log_p, const at::Tensor& log_q) {
  return (log_p.exp() * (log_p - log_q)).sum().item<double>();
}

// Hidden units that inhibit each other, each with a pattern of its own: what units that are independent given the data
// describe less well.
BoltzmannMachine teacher() {
  BoltzmannMachine machine =
      support::randomized(make_boltzmann("bernoulli:6", "bernoulli:3", {}, at::kDouble), 90, 0.3);
  Moments& theta = machine.parameters();
  theta["hidden_hidden.weights"].fill_(-3);
  theta["hidden.bias"].fill_(-1);
  theta["visible.bias"].fill_(-1.5);
  for (std::int64_t unit = 0; unit < hidden_units; ++unit)
    theta["visible_hidden.weights"].narrow(1, unit, 1).narrow(0, 2 * unit, 2).fill_(3);
  machine.constrain_();
  return machine;
}

struct Way {
  const char* name;
  DataInference inference;
  const char* optimizer;
  const char* gradient;
  double most;  // nats of divergence from the teacher
};

class LearntGeneralMachine : public testing::TestWithParam<Way> {};

TEST_P(LearntGeneralMachine, ComesNearItsTeacher) {
  const BoltzmannMachine truth = teacher();
  const Dataset data{.name = "teacher", .values = exact_sample(truth, Key(91), 20'000).layers[0].to(at::kByte)};
  BoltzmannMachine machine = make_boltzmann("bernoulli:6", "bernoulli:3");
  initialize(machine, Key(92), 0.1, {{data.column_means().to(at::kFloat)}});
  const at::Tensor log_p = log_probabilities(truth);
  const double before = divergence(log_p, log_probabilities(machine));
  auto metric = make_metric(GetParam().optimizer, machine.topology(), machine.parameters());
  Training training = make_training(std::move(machine), BatchStream(data, {.batch = 500}, Key(93)),
                                    make_negative_phase(GetParam().gradient, {.sweeps = 2, .particles = 500}),
                                    std::move(metric), {.rate_bias = 0.1, .rate_weights = 0.1},
                                    {.updates = 1200, .averaging = 200, .seed = 94}, {}, GetParam().inference);
  while (!training.finished()) training.step();
  const double after = divergence(log_p, log_probabilities(averaged_machine(training)));
  EXPECT_GT(before, 0.1) << "nothing to learn";
  EXPECT_LT(after, GetParam().most) << "from " << before;
  RecordProperty("divergence", std::to_string(after));
}

using By = DataInference::By;
using Start = SampledPosteriorOptions::Start;

INSTANTIATE_TEST_SUITE_P(
    All, LearntGeneralMachine,
    testing::Values(Way{"Exact", {.by = By::enumeration}, "centering", "exact", 0.01},
                    Way{"MeanField", {}, "centering", "pcd", 0.05},
                    Way{"Gibbs", {.by = By::sampling, .seed = 95}, "centering", "pcd", 0.02},
                    Way{"GibbsByFang", {.by = By::sampling, .seed = 95}, "fang", "pcd", 0.02},
                    Way{"MeanFieldThenGibbs",
                        {.by = By::sampling, .sampling = {.sweeps = 2, .start = Start::mean_field}},
                        "centering",
                        "pcd",
                        0.02},
                    Way{"Annealing",
                        {.by = By::sampling, .sampling = {.sweeps = 10, .start = Start::hot, .temperature = 5}},
                        "centering",
                        "pcd",
                        0.02},
                    Way{"GibbsAgainstFpcd", {.by = By::sampling, .seed = 95}, "centering", "fpcd", 0.05},
                    Way{"GibbsAgainstTempering", {.by = By::sampling, .seed = 95}, "centering", "pt", 0.02}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace harmonium
