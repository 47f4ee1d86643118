#include "harmonium/units/unit.h"

#include <gtest/gtest.h>

#include <limits>

#include "harmonium/kernels/random.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/softmax.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::expect_mentions;
using support::message_of;

std::string message_for(const std::string& spec) {
  return message_of([&] { static_cast<void>(make_unit(spec)); });
}

TEST(MakeUnit, ReadsTheWidthOfEveryType) {
  EXPECT_EQ(make_unit("bernoulli:784")->width(), 784);
  EXPECT_EQ(make_unit("gaussian:3")->width(), 3);
  EXPECT_EQ(make_unit("softmax:20x21")->width(), 420);
}

TEST(MakeUnit, NamesTheTypesThereAreWhenItDoesNotKnowOne) {
  expect_mentions(message_for("student:7"), {"student", "student:7", "bernoulli:N", "softmax:GxK", "gaussian:N"});
  expect_mentions(message_for(""), {"unknown", "bernoulli:N"});
}

TEST(MakeUnit, QuotesASizeThatIsNotAPositiveNumber) {
  for (const std::string bad :
       {"bernoulli:0", "bernoulli:-3", "bernoulli:4.5", "bernoulli:", "bernoulli", "gaussian:x", "bernoulli: 3",
        "bernoulli:99999999999999999999", "softmax:0x3", "softmax:3x", "softmax:3x4x5"})
    expect_mentions(message_for(bad), {bad, "positive number"});
}

TEST(MakeUnit, ReadsLimitsAndGroups) {
  EXPECT_EQ(make_unit("cardinality:500<=25")->spec(), "cardinality:500<=25");
  EXPECT_EQ(make_unit("cardinality:7<=7")->spec(), "bernoulli:7") << "no limit at all";
  EXPECT_EQ(make_unit("stepped:5")->spec(), "stepped:5");
  EXPECT_EQ(make_unit("stepped:5x64")->spec(), "stepped:5");
  EXPECT_EQ(make_unit("or_pooled:3x4")->width(), 15);
  expect_mentions(message_for("cardinality:5"), {"cardinality:5", "may be on", "<="});
  expect_mentions(message_for("cardinality:5<=6"), {"no more than 5"});
  expect_mentions(message_for("cardinality:5<=0"), {"positive number"});
  expect_mentions(message_for("pooled:5"), {"GROUPSxUNITS"});
  expect_mentions(message_for("or_pooled:5x31"), {"at most 30"});
  expect_mentions(message_for("stepped:5x4000"), {"at most 1000"});
}

TEST(MakeUnit, ShowsHowSoftmaxUnitsAreWritten) {
  expect_mentions(message_for("softmax:10"), {"softmax:10", "GROUPSxSTATES"});
}

TEST(Unit, HasNoConstraintUnlessItsTypeHas) {
  Unit::Parameters parameters = {at::full({2}, -50.0, at::kDouble)};
  make_unit("bernoulli:2")->constrain_(parameters);
  EXPECT_TRUE(at::equal(parameters[0], at::full({2}, -50.0, at::kDouble)));
}

TEST(Bernoulli, RecoversItsBiasFromItsMean) {
  const Bernoulli unit(6);
  const at::Tensor bias = 3 * normal(Key(41), {6}, at::kDouble);
  expect_close(unit.parameters_of({at::sigmoid(bias)}, 0)[0], bias, 1e-12);
}

TEST(Bernoulli, SmoothingPullsProbabilitiesTowardsOneHalf) {
  const at::Tensor p = at::arange(2, at::kDouble);  // never, always
  const at::Tensor bias = Bernoulli(2).parameters_of({p}, 0.001)[0];
  EXPECT_NEAR(bias[0].item<double>(), std::log(0.001 / 0.999), 1e-12);
  EXPECT_NEAR(bias[1].item<double>(), -std::log(0.001 / 0.999), 1e-12);
}

TEST(Bernoulli, ComplainsAboutTheFirstValueOutsideZeroToOne) {
  const Bernoulli unit(3);
  at::Tensor state = at::full({4, 3}, 0.25);
  EXPECT_EQ(unit.complaint(state), "");
  state[3][2] = -0.5;
  expect_mentions(unit.complaint(state), {"row 3", "column 2", "-0.5"});
  state[1][1] = 255;
  expect_mentions(unit.complaint(state), {"row 1", "column 1", "255"});
  state[0][2] = std::numeric_limits<float>::quiet_NaN();
  expect_mentions(unit.complaint(state), {"row 0", "column 2", "nan"});
}

TEST(Bernoulli, EntropyIsZeroForCertainUnitsAndNeverNegative) {
  const at::Tensor field = at::arange(-700, 701, 7, at::kDouble).unsqueeze(1);
  const at::Tensor entropy = Bernoulli(1).entropy(field, {});
  EXPECT_GE(entropy.min().item<double>(), -1e-13);
  EXPECT_NEAR(entropy[0].item<double>(), 0, 1e-12);
  EXPECT_NEAR(entropy[100].item<double>(), std::log(2.0), 1e-15);
  EXPECT_NEAR(entropy[200].item<double>(), 0, 1e-12);
}

TEST(Softmax, RecoversItsProbabilitiesFromItsMeanWithoutAConstant) {
  const Softmax unit(2, 3);
  const at::Tensor bias = normal(Key(42), {1, 6}, at::kDouble);
  const at::Tensor recovered = unit.parameters_of({unit.mean(bias, {})[0]}, 0)[0];
  expect_close(unit.mean(recovered.unsqueeze(0), {}), unit.mean(bias, {}), 1e-13);
  EXPECT_NEAR(unit.log_partition(recovered.unsqueeze(0), {}).item<double>(), 0, 1e-13) << "log-probabilities as biases";
}

TEST(Softmax, SmoothedProbabilitiesStillSumToOne) {
  const at::Tensor certain = at::eye(4, at::kDouble)[2];
  const at::Tensor p = Softmax(1, 4).parameters_of({certain}, 0.01)[0].exp();
  EXPECT_NEAR(p.sum().item<double>(), 1, 1e-14);
  EXPECT_NEAR(p[0].item<double>(), 0.01, 1e-14);
  EXPECT_NEAR(p[2].item<double>(), 0.97, 1e-14);
}

TEST(Softmax, ComplainsAboutTheFirstGroupThatIsNotOneHot) {
  const Softmax unit(2, 3);
  at::Tensor state = unit.states(at::arange(9), at::kFloat);
  EXPECT_EQ(unit.complaint(state), "");
  state[8][1] = 1;
  state[8][0] = 1;
  expect_mentions(unit.complaint(state), {"row 8", "group 0", "one-hot"});
  state[5].narrow(0, 3, 3).zero_();
  expect_mentions(unit.complaint(state), {"row 5", "group 1"});
  state[4][0] = std::numeric_limits<float>::quiet_NaN();
  expect_mentions(unit.complaint(state), {"row 4", "group 0"});
  state[3][3] = 2;
  state[3][4] = -1;
  state[3][5] = 0;
  expect_mentions(unit.complaint(state), {"row 3", "group 1"});
}

TEST(Softmax, IsNotDisturbedByHugeFields) {
  const Softmax unit(1, 3);
  const at::Tensor field = at::tensor({5000.0, 4999.0, -1e6}, at::kDouble).unsqueeze(0);
  const double p = 1 / (1 + std::exp(-1.0));
  EXPECT_NEAR(unit.mean(field, {})[0][0].item<double>(), p, 1e-14);
  EXPECT_NEAR(unit.log_partition(field, {}).item<double>(), 5000 - std::log(p), 1e-9);
  EXPECT_NEAR(unit.entropy(field, {}).item<double>(), -p * std::log(p) - (1 - p) * std::log(1 - p), 1e-12);
}

TEST(Softmax, NeverDrawsAStateOfProbabilityZero) {
  const at::Tensor field = at::tensor({0.0, -1e6, 0.0}, at::kDouble).expand({100'000, 3}).contiguous();
  EXPECT_EQ(Softmax(1, 3).sample(Key(43), field, {}).select(1, 1).sum().item<double>(), 0);
}

TEST(AverageRows, WeighsRowsByTheirWeights) {
  const at::Tensor rows = normal(Key(44), {3, 2}, at::kDouble);
  const at::Tensor weights = at::tensor({0.5, 0.25, 0.25}, at::kDouble);
  expect_close(average_rows(rows, weights), 0.5 * rows[0] + 0.25 * rows[1] + 0.25 * rows[2], 1e-15);
  expect_close(average_rows(rows, {}), (rows[0] + rows[1] + rows[2]) / 3, 1e-15);
}

}  // namespace
}  // namespace harmonium
