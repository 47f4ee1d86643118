// Moments by a sampled posterior against sums over all hidden states.
#include "harmonium/inference/sampled_posterior.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::randomized;

BoltzmannMachine three_hidden_layers() {
  return randomized(make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2", "bernoulli:3"}, at::kDouble), 51, 1.2);
}

BoltzmannMachine with_label_on_top() {
  const auto binary = [](std::int64_t width) { return make_unit("bernoulli:" + std::to_string(width)); };
  return randomized({{{"visible", binary(3), true},
                      {"hidden1", binary(3)},
                      {"hidden2", make_unit("softmax:1x3")},
                      {"label", make_unit("softmax:1x2"), true}},
                     {{"visible", "hidden1"}, {"hidden1", "hidden2"}, {"hidden2", "label"}},
                     at::kDouble},
                    52, 1.2);
}

BoltzmannMachine joined_inside_and_above() {
  const auto binary = [](std::int64_t width) { return make_unit("bernoulli:" + std::to_string(width)); };
  return randomized({{{"visible", binary(3), true}, {"hidden1", binary(3)}, {"hidden2", binary(3)}},
                     {{"visible", "hidden1"}, {"hidden1", "hidden1"}, {"hidden1", "hidden2"}, {"hidden2", "hidden2"}},
                     at::kDouble},
                    55, 1.0);
}

class PosteriorOf : public testing::TestWithParam<support::MachineCase> {
 protected:
  const BoltzmannMachine machine_ = GetParam().make();

  // One configuration of the observed layers, and E[g | it] by a sum over all hidden states.
  [[nodiscard]] support::Configuration observed() const {
    const support::PlainMachine plain(machine_);
    double log_measure = 0;
    return plain.completions(support::Configuration(machine_.layers().size()), machine_.observed(), log_measure).at(3);
  }
  [[nodiscard]] Moments exact(const support::Configuration& data) const {
    const support::PlainMachine plain(machine_);
    double log_measure = 0;
    const auto all = plain.completions(data, machine_.hidden(), log_measure);
    support::Row log_weights;
    for (const auto& x : all) log_weights.push_back(plain.log_weight(x));
    return support::expected_statistics(machine_, all, support::normalized(log_weights));
  }
  [[nodiscard]] State copies(const support::Configuration& data, std::int64_t rows) const {
    State state;
    state.layers.resize(machine_.layers().size());
    for (const std::size_t layer : machine_.observed())
      state.layers[layer] =
          support::to_tensor({data[layer]}).expand({rows, static_cast<std::int64_t>(data[layer].size())}).contiguous();
    return state;
  }
};

// After 60 visits the chains of these small machines have forgotten their start; 200 crowds of 100 rows are
// independent, so the mean of their moments is within 5.5 standard errors of the truth (false-alarm rate about 1e-6 for
// all entries).
TEST_P(PosteriorOf, HasTheExactMomentsOnAverage) {
  const support::Configuration data = observed();
  const Moments truth = exact(data);
  constexpr std::int64_t crowds = 200, rows = 100;
  SampledPosterior posterior(machine_, crowds * rows, {.sweeps = 1}, Key(5));
  for (std::uint64_t visit = 0; visit < 60; ++visit)
    (void)posterior.data_moments(machine_, copies(data, crowds * rows), at::arange(crowds * rows, at::kLong),
                                 Key(6).fold_in(visit));
  std::map<std::string, std::vector<at::Tensor>> found;
  const State batch = copies(data, rows);
  for (std::int64_t crowd = 0; crowd < crowds; ++crowd) {
    const Moments moments =
        posterior.data_moments(machine_, batch, at::arange(crowd * rows, (crowd + 1) * rows, at::kLong),
                               Key(7).fold_in(static_cast<std::uint64_t>(crowd)));
    ASSERT_EQ(moments.entries().size(), machine_.parameters().entries().size());
    for (const auto& [name, value] : moments.entries()) found[name].push_back(value);
  }
  for (const auto& [name, values] : found) support::expect_mean(at::stack(values), truth[name], name);
}

// Rows that start anew are independent of each other, so 100 crowds of 100 are. The same false-alarm rate. At a
// temperature of 1 the visit is 40 sweeps from a random state, or from a draw of the mean-field distribution.
TEST_P(PosteriorOf, HasTheExactMomentsWhereverAVisitStarts) {
  const support::Configuration data = observed();
  const Moments truth = exact(data);
  constexpr std::int64_t crowds = 100, rows = 100;
  using Start = SampledPosteriorOptions::Start;
  for (const Start start : {Start::mean_field, Start::hot}) {
    SampledPosterior posterior(machine_, rows, {.sweeps = 40, .start = start, .temperature = 1}, Key(8));
    EXPECT_TRUE(posterior.state().empty()) << "nothing is kept";
    std::map<std::string, std::vector<at::Tensor>> found;
    for (std::uint64_t crowd = 0; crowd < crowds; ++crowd) {
      const Moments moments =
          posterior.data_moments(machine_, copies(data, rows), at::arange(rows, at::kLong), Key(9).fold_in(crowd));
      for (const auto& [name, value] : moments.entries()) found[name].push_back(value);
    }
    for (const auto& [name, values] : found) support::expect_mean(at::stack(values), truth[name], name);
  }
}

// Cooled slowly, the end of a visit is nearly a draw of the posterior.
TEST_P(PosteriorOf, IsNearlyReachedByCooling) {
  const support::Configuration data = observed();
  const Moments truth = exact(data);
  SampledPosterior posterior(machine_, 10'000,
                             {.sweeps = 300, .start = SampledPosteriorOptions::Start::hot, .temperature = 10}, Key(10));
  const Moments found = posterior.data_moments(machine_, copies(data, 10'000), at::arange(10'000, at::kLong), Key(11));
  for (const auto& [name, value] : truth.entries())
    EXPECT_LT((found[name] - value).abs().max().item<double>(), 0.03) << name;
}

TEST_P(PosteriorOf, GoesOnFromASavedState) {
  const State batch = copies(observed(), 10);
  const at::Tensor rows = at::arange(10, at::kLong);
  SampledPosterior first(machine_, 20, {.sweeps = 2}, Key(1));
  (void)first.data_moments(machine_, batch, rows, Key(2));
  SampledPosterior second(machine_, 20, {.sweeps = 2}, Key(99));
  second.restore(first.state());
  EXPECT_TRUE(support::identical(first.data_moments(machine_, batch, rows, Key(3)),
                                 second.data_moments(machine_, batch, rows, Key(3))));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, PosteriorOf,
    testing::Values(
        support::MachineCase{
            "TwoHiddenLayers",
            [] {
              return randomized(make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:3"}, at::kDouble), 50, 1.2);
            }},
        support::MachineCase{"ThreeHiddenLayers", three_hidden_layers},
        support::MachineCase{"LabelOnTop", with_label_on_top},
        support::MachineCase{
            "General",
            [] { return randomized(make_boltzmann("bernoulli:3", "bernoulli:4", {}, at::kDouble), 53, 1.2); }},
        support::MachineCase{
            "GeneralPotts",
            [] { return randomized(make_boltzmann("bernoulli:3", "softmax:2x3", {}, at::kDouble), 54, 1.2); }},
        support::MachineCase{"JoinedInsideAndAbove", joined_inside_and_above}),
    support::case_name);

TEST(SampledPosterior, KeepsAByteForEveryRowAndUnitBeyondTheFirstBlock) {
  const BoltzmannMachine machine = make_chain({"bernoulli:784", "bernoulli:500", "bernoulli:300"});
  EXPECT_EQ(SampledPosterior::bytes(machine, 1000), 300'000);
  const NamedTensors kept = SampledPosterior(machine, 10, {}, Key(1)).state();
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(kept.front().second.nbytes(), 3000);
}

TEST(SampledPosterior, KeepsLayersWhoseUnitsAreJoined) {
  const BoltzmannMachine machine = make_boltzmann("bernoulli:7", "bernoulli:5");
  EXPECT_EQ(SampledPosterior::bytes(machine, 10), 50);
  const NamedTensors kept = SampledPosterior(machine, 10, {}, Key(1)).state();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.front().second.nbytes(), 50u);
}

TEST(SampledPosterior, RefusesTemperaturesBelowOne) {
  const BoltzmannMachine machine = make_boltzmann("bernoulli:3", "bernoulli:2");
  EXPECT_THROW(SampledPosterior(machine, 10, {.temperature = 0.5}, Key(1)), Error);
}

// The clamped sampler leaves the posterior as it is: exact draws of the hidden state stay exact draws after one visit.
// Chi-square over the 16 states, false-alarm rate 1e-6.
TEST(SampledPosterior, LeavesThePosteriorAsItIs) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = randomized(make_boltzmann("bernoulli:3", "bernoulli:4", {}, at::kDouble), 56, 1.2);
  const support::PlainMachine plain(machine);
  support::Configuration data(2);
  data[0] = {1, 0, 1};
  double log_measure = 0;
  const std::vector<support::Configuration> all = plain.completions(data, {1}, log_measure);
  support::Row log_weights;
  for (const auto& x : all) log_weights.push_back(plain.negative_energy(x));
  const support::Row probabilities = support::normalized(log_weights);
  constexpr std::int64_t rows = 100'000;
  const State drawn = support::draw_configurations(all, probabilities, rows, Key(57));
  SampledPosterior posterior(machine, rows, {}, Key(58));
  posterior.restore({{"rows.1", drawn.layers[1].to(at::kByte)}});
  (void)posterior.data_moments(machine, {{drawn.layers[0], {}}}, at::arange(rows, at::kLong), Key(59));
  const at::Tensor after = posterior.state().front().second;
  EXPECT_FALSE(at::equal(after.to(at::kDouble), drawn.layers[1])) << "nothing has moved";
  support::expect_frequencies(support::count_configurations({{drawn.layers[0], after.to(at::kDouble)}}, all),
                              probabilities);
}

// A batch that ends one epoch and begins the next may have a row twice. The state of its last place is kept, as if the
// first had been another row.
TEST(SampledPosterior, KeepsTheLastStateOfARowThatABatchHasTwice) {
  const BoltzmannMachine machine = three_hidden_layers();
  constexpr std::int64_t all = 50, twice = 3;
  std::vector<std::int64_t> places(32);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  State data;
  data.layers.resize(machine.layers().size());
  data.layers[0] = sample_bernoulli(Key(1), at::full({static_cast<std::int64_t>(places.size()), 3}, 0.5, at::kDouble));
  const auto kept_after = [&](std::int64_t first) {
    SampledPosterior posterior(machine, all, {.sweeps = 1}, Key(5));
    std::vector<std::int64_t> rows = places;
    rows[twice] = 40;
    rows[0] = first;
    rows[31] = twice;
    for (std::uint64_t visit = 0; visit < 20; ++visit)
      (void)posterior.data_moments(machine, data, at::tensor(rows, at::kLong), Key(6).fold_in(visit));
    return find_tensor(posterior.state(), "rows.2", "states").select(0, twice).clone();
  };
  EXPECT_TRUE(at::equal(kept_after(twice), kept_after(45)));
}

}  // namespace
}  // namespace harmonium
