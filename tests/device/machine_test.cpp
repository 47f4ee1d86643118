// Machines of every arrangement, on the device beside the CPU, in float64: models/ and samplers/.
#include "harmonium/likelihood/base_model.h"
#include "harmonium/models/classification.h"
#include "harmonium/samplers/adaptive_ladder.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/samplers/herding.h"
#include "harmonium/samplers/parallel_tempering.h"
#include "harmonium/samplers/rates_fpcd.h"
#include "harmonium/samplers/tempered_transitions.h"
#include "tests/device/support.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

class MachineOnDevice : public OnDevice, public testing::WithParamInterface<support::MachineCase> {
 protected:
  const BoltzmannMachine here_ = GetParam().make();
};

State moved(State state, at::Device device) {
  for (at::Tensor& layer : state.layers)
    if (layer.defined()) layer = layer.to(device);
  return state;
}

TEST_P(MachineOnDevice, GivesTheSameFieldsPotentialsAndMoments) {
  const BoltzmannMachine there = here_.to(cuda_);
  EXPECT_EQ(there.device(), cuda_);
  EXPECT_EQ(there.scalar_type(), at::kDouble);
  const State state = here_.independent_sample(Key(1), 33), copy = moved(state, cuda_);
  expect_near(there.independent_sample(Key(1), 33), state, same);
  for (std::size_t layer = 0; layer < here_.layers().size(); ++layer)
    expect_near(there.field(layer, copy), here_.field(layer, state), same);
  expect_near(there.log_potential(copy), here_.log_potential(state), same);
  const LayerSet summed = here_.without_inner_edges(here_.blocks().back());
  expect_near(there.log_sum_out(copy, summed), here_.log_sum_out(state, summed), same);
  expect_near(there.moments(copy, there.fields(summed, copy)), here_.moments(state, here_.fields(summed, state)), same);
  const at::Tensor weights = at::softmax(uniform(Key(2), {33}, at::kDouble), 0);
  expect_near(there.moments(copy, {}, weights.to(cuda_)), here_.moments(state, {}, weights), same);
  const Particles rows = here_.particles(state, summed), rows_there = there.particles(copy, summed);
  for (std::size_t layer = 0; layer < rows.layers.size(); ++layer) {
    expect_near(rows_there.layers[layer].unary, rows.layers[layer].unary, same);
    if (rows.layers[layer].covariance.defined())
      expect_near(rows_there.layers[layer].covariance, rows.layers[layer].covariance, same);
  }
  for (std::size_t layer = 0; layer < here_.layers().size(); ++layer)
    expect_near(there.unit(layer).entropy(there.field(layer, copy), there.layer_parameters(layer)),
                here_.unit(layer).entropy(here_.field(layer, state), here_.layer_parameters(layer)), same);
}

TEST_P(MachineOnDevice, WalksTheSameWay) {
  const BoltzmannMachine there = here_.to(cuda_);
  State state = here_.independent_sample(Key(3), 21), copy = moved(state, cuda_);
  expect_near(walk_and_average(there, copy, Key(4), 20), walk_and_average(here_, state, Key(4), 20), same);
  EXPECT_EQ(copy.layers[0].device(), cuda_);
  expect_near(copy, state, same);
  KnownUnits known(here_.layers().size()), known_there = known;
  known[0] = at::full_like(state.layers[0], std::nan(""));
  const std::int64_t columns = here_.unit(0).digit().columns;
  known[0].narrow(1, 0, columns).copy_(state.layers[0].narrow(1, 0, columns));
  known_there[0] = known[0].to(cuda_);
  conditional_gibbs(here_, state, Key(5), 10, known);
  conditional_gibbs(there, copy, Key(5), 10, known_there);
  expect_near(copy, state, same);
}

INSTANTIATE_TEST_SUITE_P(All, MachineOnDevice, testing::ValuesIn(support::and_inner(support::all_machines())),
                         support::case_name);

class DiscreteMachineOnDevice : public MachineOnDevice {};

TEST_P(DiscreteMachineOnDevice, IsEnumeratedOnTheCpuAndItsDrawsComeBack) {
  const BoltzmannMachine there = here_.to(cuda_);
  const State drawn = exact_sample(there, Key(6), 50);
  for (const at::Tensor& layer : drawn.layers) EXPECT_EQ(layer.device(), cuda_);
  expect_near(drawn, exact_sample(here_, Key(6), 50), same);
}

INSTANTIATE_TEST_SUITE_P(All, DiscreteMachineOnDevice, testing::ValuesIn(support::discrete_and_inner_machines()),
                         support::case_name);

class ShallowMachineOnDevice : public MachineOnDevice {};

TEST_P(ShallowMachineOnDevice, IsTemperedTheSameWay) {
  const BoltzmannMachine there = here_.to(cuda_);
  const TemperedLine line(here_, uniform_parameters(here_)), line_there(there, uniform_parameters(there));
  ParallelTempering chains(linear_ladder(5), 12), chains_there(linear_ladder(5), 12);
  for (std::uint64_t step = 0; step < 10; ++step) {
    chains.step(line, Key(7).fold_in(step));
    chains_there.step(line_there, Key(7).fold_in(step));
  }
  expect_near(chains_there.target_state(line_there, Key(8)), chains.target_state(line, Key(8)), same);
  ParallelTempering again(linear_ladder(5), 12);
  again.restore(chains_there.state());
  again.step(line_there, Key(9));
  chains_there.step(line_there, Key(9));
  expect_near(again.target_state(line_there, Key(8)), chains_there.target_state(line_there, Key(8)), 0);
  const TemperingStatistics found = chains.take_statistics(), found_there = chains_there.take_statistics();
  EXPECT_EQ(found.steps + 1, found_there.steps);
  State state = here_.independent_sample(Key(10), 12), copy = moved(state, cuda_);
  const double accepted = tempered_transition(line, linear_ladder(5), state, Key(11)).acceptance;
  EXPECT_NEAR(tempered_transition(line_there, linear_ladder(5), copy, Key(11)).acceptance, accepted, same);
  expect_near(copy, state, same);
}

INSTANTIATE_TEST_SUITE_P(All, ShallowMachineOnDevice,
                         testing::ValuesIn(support::and_inner(support::shallow_machines())), support::case_name);

using SamplersOnDevice = OnDevice;

TEST_F(SamplersOnDevice, OthersGiveTheSameStates) {
  const BoltzmannMachine here = support::randomized(make_rbm("bernoulli:6", "bernoulli:4", at::kDouble), 1),
                         there = here.to(cuda_);
  const Moments target = here.moments(here.independent_sample(Key(1), 50));
  RatesFpcd chains(here, target, here.independent_sample(Key(2), 9), {}),
      chains_there(there, target, there.independent_sample(Key(2), 9), {});
  Herding herding(here, target, {}), herding_there(there, target, {});
  for (std::uint64_t step = 0; step < 20; ++step) {
    (void)chains.step(Key(3).fold_in(step));
    (void)chains_there.step(Key(3).fold_in(step));
    (void)herding.step();
    (void)herding_there.step();
  }
  expect_near(chains_there.state(), chains.state(), same);
  expect_near(herding_there.state(), herding.state(), 0);
}

TEST_F(SamplersOnDevice, ClassesOfRowsAreAsProbable) {
  const BoltzmannMachine here =
      support::randomized(make_classification_rbm("bernoulli:6", 4, "bernoulli:5", at::kDouble), 2);
  const at::Tensor rows = sample_bernoulli(Key(4), at::full({30, 6}, 0.5, at::kDouble));
  expect_near(log_label_probabilities(here.to(cuda_), rows), log_label_probabilities(here, rows), same);
}

}  // namespace
}  // namespace harmonium
