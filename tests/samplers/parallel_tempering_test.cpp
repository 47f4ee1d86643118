// Parallel tempering of machines whose whole distribution is known. Chi-square with a false-alarm rate of 1e-6 each,
// means at 5.5 standard errors (3.8e-8 each), fixed seeds.
#include "harmonium/samplers/parallel_tempering.h"

#include <gtest/gtest.h>

#include "harmonium/samplers/adaptive_ladder.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/samplers/tempering_machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::BruteForce;

const std::vector<double> four_rungs = {0, 0.3, 0.7, 1};

std::vector<State> exact_rungs(const TemperedLine& line, const std::vector<double>& ladder, std::int64_t chains) {
  std::vector<State> rungs;
  for (std::size_t rung = 0; rung < ladder.size(); ++rung)
    rungs.push_back(exact_sample(line.at(ladder[rung]), Key(200).fold_in(rung), chains));
  return rungs;
}

class DiscreteParallelTempering : public testing::TestWithParam<support::MachineCase> {
 protected:
  const support::ThreadCount one_thread{1};
  const BoltzmannMachine machine = GetParam().make();
  const BruteForce brute{machine};
  const TemperedLine line{machine, support::some_base(machine)};
};

TEST_P(DiscreteParallelTempering, LeavesTheDistributionsOfAllRungsAsTheyAre) {
  constexpr std::int64_t chains = 40'000;
  ParallelTempering sampler(four_rungs, chains);
  sampler.start(exact_rungs(line, four_rungs, chains));
  for (std::uint64_t step = 0; step < 5; ++step) sampler.step(line, Key(201).fold_in(step));
  for (std::size_t rung = 0; rung < four_rungs.size(); ++rung) {
    SCOPED_TRACE(rung);
    State state = sampler.rungs()[rung];
    const BoltzmannMachine here = line.at(four_rungs[rung]);
    sample_layers(here, state, Key(202).fold_in(rung), line.summed());
    support::expect_frequencies(support::count_configurations(state, brute.configurations),
                                BruteForce(here).probabilities);
  }
  for (const double one : sampler.take_statistics().acceptance) EXPECT_GT(one, 0.1) << "nothing was exchanged";
}

TEST_P(DiscreteParallelTempering, ForgetsABadStart) {
  constexpr std::int64_t chains = 40'000;
  ParallelTempering sampler(four_rungs, chains);
  sampler.start(std::vector<State>(
      4, support::draw_configurations({brute.configurations[brute.configurations.size() / 3]}, {1.0}, chains, Key(1))));
  for (std::uint64_t step = 0; step < 25; ++step) sampler.step(line, Key(203).fold_in(step));
  support::expect_frequencies(support::count_configurations(sampler.target_state(line, Key(204)), brute.configurations),
                              brute.probabilities);
}

INSTANTIATE_TEST_SUITE_P(Machines, DiscreteParallelTempering, testing::ValuesIn(support::discrete_and_inner_machines()),
                         support::case_name);

TEST(ParallelTempering, LeavesTheMomentsOfGaussianMachinesAsTheyAre) {
  constexpr std::int64_t chains = 40'000;
  const support::ThreadCount one_thread(1);
  for (const support::MachineCase& one : {support::rbm_case("visible", "gaussian:2", "bernoulli:2"),
                                          support::rbm_case("hidden", "bernoulli:3", "gaussian:2")}) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    Moments base = support::some_base(machine);
    const TemperedLine line(machine, base);
    ParallelTempering sampler(four_rungs, chains);
    sampler.start(exact_rungs(line, four_rungs, chains));
    for (std::uint64_t step = 0; step < 5; ++step) sampler.step(line, Key(205).fold_in(step));
    const BruteForce brute(machine);
    const at::Tensor x = at::cat(sampler.target_state(line, Key(206)).layers, 1);
    const at::Tensor nodes = at::cat(support::to_state(brute.configurations).layers, 1);
    const at::Tensor p = support::to_tensor({brute.probabilities})[0];
    support::expect_mean(x, p.matmul(nodes));
    support::expect_mean(x.square(), p.matmul(nodes.square()));
  }
}

TEST(ParallelTempering, OffersAnExchangeWithTheProbabilityOfTheFormula) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 207, 1.5);
  const TemperedLine line(machine, support::some_base(machine));
  const support::PlainMachine cold(machine), hot(line.at(0));
  const support::Configuration x = {{1, 0, 1, 1}, {}}, y = {{0, 1, 0, 1}, {}};
  for (const auto& [low, high] : {std::pair(x, y), std::pair(y, x)}) {
    ParallelTempering sampler({0, 1}, 1);
    sampler.start({{{support::to_tensor({low[0]}), {}}}, {{support::to_tensor({high[0]}), {}}}});
    sampler.step(line, Key(208));
    const double ratio =
        hot.log_sum(high, {1}) + cold.log_sum(low, {1}) - hot.log_sum(low, {1}) - cold.log_sum(high, {1});
    EXPECT_NEAR(sampler.take_statistics().acceptance[0], std::min(1.0, std::exp(ratio)), 1e-12);
  }
}

TEST(ParallelTempering, CrossesBetweenFarModesWhereGibbsDoesNot) {
  constexpr std::int64_t chains = 200;
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::two_modes();
  const double expected = support::probability_on(machine);
  ASSERT_NEAR(expected, 0.73, 0.02);
  const TemperedLine line(machine, uniform_parameters(machine));

  const State start = support::all_off(machine, chains);
  State stuck = start;
  gibbs(machine, stuck, Key(209), 2000);
  EXPECT_LT(support::is_on(stuck).mean().item<double>(), 0.02);

  // The chains are independent of each other: their averages over time are the repetitions.
  ParallelTempering sampler(linear_ladder(10), chains);
  sampler.start(std::vector<State>(10, start));
  at::Tensor time_on = at::zeros({chains}, at::kDouble);
  for (std::uint64_t step = 0; step < 1200; ++step) {
    sampler.step(line, Key(210).fold_in(step));
    if (step >= 200) time_on += support::is_on(sampler.rungs().back()) / 1000;
  }
  support::expect_mean(time_on.unsqueeze(1), at::full({1}, expected, at::kDouble));
  EXPECT_LT(time_on.std().item<double>() / std::sqrt(chains), 0.02) << "too vague to mean anything";
  const TemperingStatistics statistics = sampler.take_statistics();
  EXPECT_EQ(statistics.steps, 1200);
  EXPECT_GT(statistics.round_trips, 5 * chains);
  RecordProperty("on_error", std::to_string(time_on.mean().item<double>() - expected));
  RecordProperty("on_standard_error", std::to_string(time_on.std().item<double>() / std::sqrt(chains)));
  RecordProperty("round_trips", std::to_string(statistics.round_trips));
}

// What acceptances and round trips cannot tell: the machine's own biases point at "off" on every rung but the last.
TEST(ParallelTempering, MissesAModeThatItsBaseDoesNotLeadTo) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::two_modes();
  Moments biases = machine.parameters().clone();
  biases["visible_hidden.weights"].zero_();
  const TemperedLine line(machine, biases);
  ParallelTempering sampler(linear_ladder(10), 100);
  for (std::uint64_t step = 0; step < 300; ++step) sampler.step(line, Key(220).fold_in(step));
  EXPECT_LT(support::is_on(sampler.rungs().back()).mean().item<double>(), 0.02);
  for (const double one : sampler.take_statistics().acceptance) EXPECT_GT(one, 0.99);
}

// Without weights, base and target are one distribution: every exchange is accepted, and a walker goes from end to end
// and back by a fixed timetable.
TEST(ParallelTempering, CountsRoundTrips) {
  const BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2", at::kDouble);
  const TemperedLine line(machine, machine.parameters());
  ParallelTempering sampler({0, 0.5, 1}, 7);
  for (std::uint64_t step = 0; step < 41; ++step) sampler.step(line, Key(211).fold_in(step));
  const TemperingStatistics statistics = sampler.take_statistics();
  EXPECT_EQ(statistics.acceptance, (std::vector<double>{1, 1}));
  // Every second step a walker comes down to the base; the first that has been there before comes with step 6.
  EXPECT_EQ(statistics.round_trips, 7 * 18);
  EXPECT_EQ(sampler.take_statistics().round_trips, 0);
}

TEST(ParallelTempering, ContinuesBitIdenticallyFromASavedState) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("bernoulli:3", 3, "bernoulli:3", at::kDouble), 212);
  const TemperedLine line(machine, support::some_base(machine));
  ParallelTempering whole(four_rungs, 5), resumed(linear_ladder(3), 1);
  for (std::uint64_t step = 0; step < 7; ++step) whole.step(line, Key(213).fold_in(step), 2);
  NamedTensors saved;
  for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
  resumed.restore(saved);
  (void)whole.take_statistics();
  for (std::uint64_t step = 7; step < 30; ++step) {
    whole.step(line, Key(213).fold_in(step), 2);
    resumed.step(line, Key(213).fold_in(step), 2);
    for (std::size_t rung = 0; rung < 4; ++rung)
      for (const std::size_t layer : line.kept())
        EXPECT_TRUE(at::equal(whole.rungs()[rung].layers[layer], resumed.rungs()[rung].layers[layer]));
  }
  EXPECT_EQ(whole.take_statistics().round_trips, resumed.take_statistics().round_trips);
}

TEST(ParallelTempering, RefusesLaddersBasesAndChainsThatDoNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 214);
  const TemperedLine line(machine, support::some_base(machine));
  expect_mentions(message_of([] { ParallelTempering({0, 0.5}, 1); }), {"ends at 1"});
  expect_mentions(message_of([] { ParallelTempering({0, 0.5, 0.5, 1}, 1); }), {"rise"});
  expect_mentions(message_of([] { ParallelTempering({0, 1}, 0); }), {"chain", "0"});
  expect_mentions(message_of([&] { ParallelTempering({0, 1}, 2).step(line, Key(1), 0); }), {"sweep"});
  expect_mentions(message_of([&] { ParallelTempering({0, 1}, 2).start({State()}); }), {"1", "2"});
  expect_mentions(message_of([&] { TemperedLine(machine, machine.parameters()); }), {"visible_hidden.weights"});
  expect_mentions(message_of([] { static_cast<void>(linear_ladder(1)); }), {"1"});
}

// Chi-square, false-alarm rate 1e-6.
TEST(ParallelTempering, TakesMachinesOfMoreThanTwoBlocks) {
  const support::ThreadCount one_thread{1};
  const BoltzmannMachine triangle = support::randomized(support::triangle(), 219);
  const support::BruteForce brute(triangle);
  const TemperedLine line(triangle, support::some_base(triangle));
  EXPECT_EQ(line.kept().size(), 2u);
  ParallelTempering sampler({0, 0.5, 1}, 10'000);
  for (std::uint64_t step = 0; step < 12; ++step) sampler.step(line, Key(220).fold_in(step));
  support::expect_frequencies(support::count_configurations(sampler.target_state(line, Key(221)), brute.configurations),
                              brute.probabilities);
}

TEST(ParallelTempering, RefusesASavedStateThatIsNotWhole) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 218);
  ParallelTempering sampler({0, 1}, 4);
  sampler.step(TemperedLine(machine, support::some_base(machine)), Key(219));
  for (const auto& [missing, value] : sampler.state()) {
    NamedTensors rest;
    for (const auto& one : sampler.state())
      if (one.first != missing) rest.push_back(one);
    EXPECT_THROW(ParallelTempering({0, 1}, 4).restore(rest), Error) << missing;
  }
}

TEST(AdaptiveLadder, MakesAllNeighboursExchangeEquallyOften) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:20", "bernoulli:15", at::kDouble), 215, 1.0);
  const TemperedLine line(machine, uniform_parameters(machine));
  const auto acceptances = [&](const std::vector<double>& ladder) {
    ParallelTempering sampler(ladder, 100);
    for (std::uint64_t step = 0; step < 1500; ++step) {
      if (step == 500) (void)sampler.take_statistics();
      sampler.step(line, Key(216).fold_in(step));
    }
    return at::tensor(sampler.take_statistics().acceptance, at::kDouble);
  };
  const at::Tensor plain = acceptances(linear_ladder(7)), even = acceptances(adaptive_ladder(line, 7, Key(217)));
  RecordProperty("linear", (std::ostringstream() << plain.view({1, -1})).str());
  RecordProperty("adaptive", (std::ostringstream() << even.view({1, -1})).str());
  // Estimates of single pairs are good to about 0.01.
  EXPECT_LT((even.max() - even.min()).item<double>(), 0.06) << even;
  EXPECT_GT((plain.max() - plain.min()).item<double>(), 0.12) << plain;
}

TEST(AdaptiveLadder, PlacesRungsAtEqualShareOfTheRejections) {
  // Rejections 0.2 below ½ and 0.6 above: a fifth rung at every 0.2.
  const std::vector<double> ladder = equalized_ladder({0, 0.5, 1}, {0.8, 0.4}, 5);
  support::expect_close(at::tensor(ladder, at::kDouble), at::tensor({0.0, 0.5, 2 / 3.0, 5 / 6.0, 1.0}, at::kDouble),
                        1e-12);
  EXPECT_EQ(equalized_ladder({0, 0.5, 1}, {1, 1}, 3), (std::vector<double>{0, 0.5, 1}));
  EXPECT_THROW(static_cast<void>(equalized_ladder({0, 1}, {std::nan("")}, 3)), Error);
}

}  // namespace
}  // namespace harmonium
