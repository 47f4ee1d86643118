// Enumeration and joint frequencies of the units with finitely many states.
#include <gtest/gtest.h>

#include <set>

#include "harmonium/kernels/random.h"
#include "harmonium/units/unit.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::Row;

class DiscreteUnit : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const Unit> unit = make_unit(GetParam());
};

TEST_P(DiscreteUnit, EnumeratesEveryStateOnce) {
  const auto count = static_cast<std::int64_t>(unit->state_count().value());
  const std::vector<Row> all = support::points_of(GetParam()).rows;
  ASSERT_EQ(static_cast<std::size_t>(count), all.size());
  const at::Tensor states = unit->states(at::arange(count, at::kLong), at::kDouble);
  std::set<Row> seen;
  for (std::int64_t i = 0; i < count; ++i) seen.insert(support::numbers(states[i]));
  EXPECT_EQ(seen, std::set<Row>(all.begin(), all.end()));
}

TEST_P(DiscreteUnit, FindsAStateByItsNumberWhateverTheOrder) {
  const auto count = static_cast<std::int64_t>(unit->state_count().value());
  const at::Tensor backwards = count - 1 - at::arange(count, at::kLong);
  EXPECT_TRUE(at::equal(unit->states(backwards, at::kFloat), unit->states(at::arange(count), at::kFloat).flip(0)));
  EXPECT_EQ(unit->states(backwards, at::kFloat).scalar_type(), at::kFloat);
}

// Chi-square over all joint states of the layer, false-alarm rate 1e-6.
TEST_P(DiscreteUnit, SamplesEveryJointStateAsOftenAsItsProbability) {
  constexpr std::int64_t draws = 200'000;
  const at::Tensor field = normal(Key(21), {1, unit->width()}, at::kDouble);
  std::vector<support::Configuration> configurations;
  Row log_weights;
  for (const Row& x : support::points_of(GetParam()).rows) {
    configurations.push_back({x});
    log_weights.push_back((support::to_tensor({x}) * field).sum().item<double>() +
                          support::log_measure_of(GetParam(), x));
  }
  State state;
  state.layers = {unit->sample(Key(22), field.expand({draws, unit->width()}).contiguous(), {field[0]})};
  support::expect_frequencies(support::count_configurations(state, configurations), support::normalized(log_weights));
}

INSTANTIATE_TEST_SUITE_P(Types, DiscreteUnit,
                         testing::Values("bernoulli:5", "softmax:2x3", "softmax:3x2", "softmax:1x7", "cardinality:5<=2",
                                         "cardinality:4<=3", "pooled:2x3", "or_pooled:1x3", "or_pooled:2x2",
                                         "stepped:2x4"),
                         support::spec_name);

TEST(DiscreteUnits, CountTheStatesOfLayersFarTooWideToEnumerate) {
  EXPECT_EQ(make_unit("bernoulli:784")->state_count().value(), std::exp2(784.0));
  EXPECT_NEAR(std::log(make_unit("softmax:53x21")->state_count().value()), 53 * std::log(21.0), 1e-10);
  EXPECT_EQ(make_unit("cardinality:500<=2")->state_count().value(), 1 + 500 + 500 * 499 / 2);
  EXPECT_GT(make_unit("cardinality:500<=25")->state_count().value(), 1e40);
  EXPECT_EQ(make_unit("pooled:3x4")->state_count().value(), 125);
  EXPECT_EQ(make_unit("or_pooled:10x4")->state_count().value(), std::exp2(40.0));
}

}  // namespace
}  // namespace harmonium
