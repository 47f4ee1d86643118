// Moments by a sampled posterior against sums over all hidden states.
#include "harmonium/inference/sampled_posterior.h"

#include <gtest/gtest.h>

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
    for (const auto& x : all) log_weights.push_back(plain.negative_energy(x));
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
        support::MachineCase{"LabelOnTop", with_label_on_top}),
    support::case_name);

TEST(SampledPosterior, KeepsAByteForEveryRowAndUnitBeyondTheFirstBlock) {
  const BoltzmannMachine machine = make_chain({"bernoulli:784", "bernoulli:500", "bernoulli:300"});
  EXPECT_EQ(SampledPosterior::bytes(machine, 1000), 300'000);
  const NamedTensors kept = SampledPosterior(machine, 10, {}, Key(1)).state();
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(kept.front().second.nbytes(), 3000);
}

TEST(SampledPosterior, RefusesEdgesInsideAHiddenLayer) {
  const auto binary = [](std::int64_t width) { return make_unit("bernoulli:" + std::to_string(width)); };
  const BoltzmannMachine machine({{"visible", binary(3), true}, {"hidden", binary(3)}},
                                 {{"visible", "hidden"}, {"hidden", "hidden"}}, at::kDouble);
  EXPECT_THROW(SampledPosterior(machine, 10, {}, Key(1)), Error);
}

}  // namespace
}  // namespace harmonium
