// Deep Boltzmann machines trained jointly: mean field for the data, persistent chains for the model, any optimizer.
#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "harmonium/models/builders.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

// Two patterns and a little noise: what a layer of independent units cannot say.
Dataset two_patterns() {
  const at::Tensor which = uniform(Key(1), {400, 1}).lt(0.5), noise = uniform(Key(2), {400, 6}).lt(0.05);
  const at::Tensor pattern = at::tensor({1, 1, 1, 0, 0, 0}, at::kInt).gt(0).unsqueeze(0);
  return {.name = "two patterns", .values = pattern.bitwise_xor(which).bitwise_xor(noise).to(at::kByte)};
}

// Exact: the upper layer is summed out in closed form, states of the middle one are visited.
double log_likelihood_of(const BoltzmannMachine& machine, const at::Tensor& rows) {
  const at::Tensor middle = machine.unit(1).states(at::arange(1 << machine.unit(1).width(), at::kLong), at::kDouble);
  std::vector<at::Tensor> terms;
  for (std::int64_t i = 0; i < middle.size(0); ++i) {
    State state = machine.observe({rows});
    state.layers[1] = middle.narrow(0, i, 1).expand({rows.size(0), middle.size(1)}).contiguous();
    terms.push_back(machine.log_sum_out(state, {2}));
  }
  return at::logsumexp(at::stack(terms), 0).mean().item<double>() - exact_log_z(machine).value;
}

class DeepTraining : public testing::TestWithParam<std::string> {};

TEST_P(DeepTraining, LearnsWhatNoSingleLayerOfUnitsCould) {
  const Dataset data = two_patterns();
  BoltzmannMachine machine = make_chain({"bernoulli:6", "bernoulli:4", "bernoulli:3"});
  initialize(machine, Key(4), 0.1, {{data.column_means().to(at::kFloat)}});
  auto metric = make_metric(GetParam(), machine.topology(), machine.parameters());
  Training training =
      make_training(std::move(machine), BatchStream(data, {.batch = 100}, Key(5)),
                    make_negative_phase("pcd", {.sweeps = 2, .particles = 200}), std::move(metric),
                    {.rate_bias = 0.1, .rate_weights = 0.1}, {.updates = 1500, .averaging = 100, .seed = 6});
  while (!training.finished()) training.step();
  // Pixels alone come to −4.16; the source itself to −log 2 − 6 · 0.199 = −1.88.
  EXPECT_GT(log_likelihood_of(averaged_machine(training).to(at::kDouble), data.to_float().to(at::kDouble)), -2.1)
      << GetParam();
}

INSTANTIATE_TEST_SUITE_P(All, DeepTraining, testing::Values("centering", "fang"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace harmonium
