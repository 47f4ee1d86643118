#include "harmonium/units/unit_types.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_mentions;
using support::message_of;

TEST(UnitTypes, AreWhatTheirTextsSay) {
  for (const UnitType& type : unit_types()) {
    SCOPED_TRACE(type.name);
    const auto unit = make_unit(type.example);
    EXPECT_EQ(unit->spec(), type.example);
    EXPECT_EQ(unit->support(), type.support);
    EXPECT_EQ(&unit_type(type.example), &type);
    EXPECT_EQ(&unit_type(type.name), &type);
    EXPECT_TRUE(type.form.starts_with(type.name + ":"));
    EXPECT_FALSE(type.help.empty());
    EXPECT_EQ(fit_unit(type.example, 1000), type.example) << "what is whole stays as it is";
  }
}

TEST(UnitTypes, ForDataGetTheirWidthFromTheColumns) {
  for (const UnitType& type : unit_types()) {
    if (type.of_data.empty()) continue;
    SCOPED_TRACE(type.name);
    std::string bare = type.of_data;
    if (bare.ends_with(":K")) bare = type.name + ":3";
    EXPECT_EQ(make_unit(fit_unit(bare, 12))->width(), 12);
    EXPECT_EQ(make_unit(fit_unit(bare, 12))->support(), type.support);
  }
  EXPECT_EQ(fit_unit("softmax:3", 12), "softmax:4x3");
  expect_mentions(message_of([] { static_cast<void>(fit_unit("softmax:5", 12)); }), {"softmax:5", "12", "groups of 5"});
  expect_mentions(message_of([] { static_cast<void>(fit_unit("softmax", 12)); }), {"softmax", "number of states"});
  expect_mentions(message_of([] { static_cast<void>(fit_unit("student", 12)); }),
                  {"student", "bernoulli:N", "counts:K"});
}

TEST(UnitTypes, TakeATimesSignForAnX) {
  EXPECT_EQ(make_unit("spike_slab:4\u00d73")->spec(), "spike_slab:4x3");
  EXPECT_EQ(make_unit("spike_slab:4\u00d73")->width(), 12);
  EXPECT_EQ(make_unit("spike_slab:4x1")->spec(), "spike_slab:4");
  EXPECT_EQ(fit_unit("softmax:4\u00d73", 12), "softmax:4x3");
  expect_mentions(message_of([] { (void)make_unit("spike_slab:4x0"); }), {"spike_slab:4x0", "positive"});
}

TEST(UnitTypes, TakeANumberForBinaryHiddenUnits) {
  EXPECT_EQ(hidden_spec("100"), "bernoulli:100");
  EXPECT_EQ(hidden_spec("gaussian:20"), "gaussian:20");
  for (const char* text : {"100", "gaussian:20", "softmax:2x5"})
    EXPECT_EQ(hidden_text(*make_unit(hidden_spec(text))), text);
}

// activation(field / divisor) is the mean of the units.
TEST(UnitTypes, AreUnrolledByTheActivationThatGivesTheirMeans) {
  int unrolled = 0;
  for (const UnitType& type : unit_types()) {
    SCOPED_TRACE(type.name);
    const auto unit = make_unit(type.example);
    if (!unit->activation()) continue;
    ++unrolled;
    Unit::Parameters parameters = unit->neutral_parameters(at::kDouble);
    if (parameters.size() > 1) parameters[1] = 0.5 + uniform(Key(1), {unit->width()}, at::kDouble);
    const at::Tensor field = normal(Key(2), {4, unit->width()}, at::kDouble),
                     divisor = unit->activation_divisor(parameters);
    // Documents of one word: their counts are their shares.
    const at::Tensor whole =
        unit->with_own_state(field, at::full_like(field, 1.0 / static_cast<double>(unit->width())));
    const at::Tensor computed = activate(*unit->activation(), divisor.defined() ? field / divisor : field);
    EXPECT_TRUE(at::allclose(computed, unit->mean(whole, parameters), 0, 1e-12));
  }
  EXPECT_EQ(unrolled, 3);
}

TEST(UnitTypes, OfOneOneHotGroupHaveClasses) {
  EXPECT_EQ(make_unit("softmax:1x10")->classes(), 10);
  for (const char* spec : {"softmax:2x5", "bernoulli:10", "gaussian:10", "counts:10"})
    EXPECT_EQ(make_unit(spec)->classes(), 0) << spec;
}

// The integral of e^{field·x − ½λx²} over the grid is √(2π/λ) e^{field²/2λ}, for every field within the range.
TEST(UnitTypes, OfRealValuesHaveAGridThatIntegrates) {
  const auto unit = make_unit("gaussian:3");
  const Unit::Parameters parameters = {at::zeros({3}, at::kDouble), at::tensor({0.3, 1.0, 7.0}, at::kDouble)};
  const at::Tensor low = at::tensor({-4.0, 0.0, -20.0}, at::kDouble), high = at::tensor({3.0, 0.0, 5.0}, at::kDouble);
  const auto grid = unit->grid(low, high, parameters);
  ASSERT_TRUE(grid.has_value());
  for (const double share : {0.0, 0.3, 1.0}) {
    const at::Tensor field = low + share * (high - low);
    at::Tensor sum = at::zeros({3}, at::kDouble);
    for (std::int64_t k = 0; k <= grid->steps; ++k) {
      const at::Tensor x = grid->start + static_cast<double>(k) * grid->step;
      sum += grid->step * (field * x - 0.5 * parameters[1] * x * x).exp();
    }
    const at::Tensor expected = (0.5 * field * field / parameters[1]).exp() * (2 * M_PI / parameters[1]).sqrt();
    EXPECT_TRUE(at::allclose(sum, expected, 1e-8, 0)) << share;
  }
  EXPECT_FALSE(make_unit("bernoulli:3")->grid(low, high, {}).has_value());
}

}  // namespace
}  // namespace harmonium
