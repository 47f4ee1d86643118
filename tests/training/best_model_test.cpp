#include "harmonium/training/best_model.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

Moments at_value(double x) { return Moments{{"x", at::full({2}, x)}, {"y", at::full({1}, -x)}}; }

TEST(BestModel, IsTheFirstOfTheLowestAndACopy) {
  BestModel best;
  EXPECT_TRUE(best.empty());
  Moments moving = at_value(1);
  best.observe(moving, 0.5, 10);
  moving.mul_(100);
  EXPECT_EQ(best.parameters()["x"][0].item<double>(), 1);
  best.observe(at_value(2), 0.2, 20);
  best.observe(at_value(3), 0.2, 30);
  best.observe(at_value(4), 0.4, 40);
  best.observe(at_value(5), std::numeric_limits<double>::quiet_NaN(), 50);
  EXPECT_EQ(best.update(), 20);
  EXPECT_EQ(best.error(), 0.2);
  EXPECT_EQ(best.parameters()["y"][0].item<double>(), -2);
}

TEST(BestModel, SurvivesAmongOtherTensors) {
  BestModel best, again;
  best.observe(at_value(2), 0.1 + 0.2, 20);
  NamedTensors tensors = best.state();
  tensors.emplace_back("parameters/x", at::ones({2}));
  again.observe(at_value(7), 0.01, 3);  // forgotten
  again.restore(tensors, at_value(0));
  EXPECT_EQ(again.update(), 20);
  EXPECT_EQ(again.error(), best.error());
  EXPECT_TRUE(at::equal(again.parameters()["x"], best.parameters()["x"]));
  again.restore({{"parameters/x", at::ones({2})}}, at_value(0));
  EXPECT_TRUE(again.empty());
  EXPECT_TRUE(again.state().empty());
}

}  // namespace
}  // namespace harmonium
