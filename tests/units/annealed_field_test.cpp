// Drawing and weighing by an annealed field is what the field added up gives, for every type of unit.
#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"
#include "harmonium/units/unit.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

class AnnealedField : public testing::TestWithParam<std::string> {};

TEST_P(AnnealedField, GivesTheDrawAndTheLogRatioOfTheFieldsAddedUp) {
  const auto unit = make_unit(GetParam());
  const std::int64_t rows = 40, width = unit->width();
  const auto parameters = [&](std::uint64_t seed) {
    Unit::Parameters theta = unit->neutral_parameters(at::kDouble);
    theta[0] = normal(Key(seed), {width}, at::kDouble);
    for (std::size_t i = 1; i < theta.size(); ++i) theta[i] = 0.5 + uniform(Key(seed + i), {width}, at::kDouble);
    return theta;
  };
  const Unit::Parameters before = parameters(1), after = parameters(3);
  const at::Tensor x = normal(Key(5), {rows, width}, at::kDouble), y = normal(Key(6), {rows, width}, at::kDouble);
  const at::Tensor old_field = before[0] + 0.2 * x, new_field = after[0] + 0.7 * y;
  at::Tensor log_weights = at::ones({rows}, at::kDouble);
  const at::Tensor drawn = unit->anneal(Key(7), {x, 0.2, before}, {y, 0.7, after}, log_weights);
  support::expect_close(drawn, unit->sample(Key(7), new_field, after), 1e-12);
  support::expect_close(unit->sample(Key(7), {y, 0.7, after}), drawn, 1e-12);
  support::expect_close(log_weights, 1 + unit->log_partition(new_field, after) - unit->log_partition(old_field, before),
                        1e-12);
}

INSTANTIATE_TEST_SUITE_P(, AnnealedField,
                         testing::Values("bernoulli:1", "bernoulli:700", "softmax:3x4", "gaussian:5",
                                         "cardinality:30<=4", "pooled:3x4", "or_pooled:3x4", "stepped:7", "nrelu:7",
                                         "poisson:4", "relu:5", "drelu:5", "spike_slab:5", "spike_slab:5x3"));

}  // namespace
}  // namespace harmonium
