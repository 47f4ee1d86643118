#include <gtest/gtest.h>

#include "harmonium/families/machine_file.h"
#include "harmonium/models/builders.h"

namespace harmonium {
namespace {

TEST(ShownRange, OfRealValuesIsThatOfTheDataAndOfOthersFromZeroToOne) {
  TrainedMachine model{make_rbm("gaussian:2", "bernoulli:3")};
  EXPECT_EQ(model.shown_range(), (std::pair{0.0, 1.0})) << "nothing is known of the data";
  // Column means −1 and 4, deviations 0.5 and 2: moments are E[x] and −½E[x²].
  model.data_moments = {{at::tensor({-1.0F, 4.0F}), at::tensor({-0.625F, -10.0F})}};
  EXPECT_NEAR(model.shown_range().first, -2, 1e-6);
  EXPECT_NEAR(model.shown_range().second, 8, 1e-6);
  TrainedMachine bits{make_rbm("bernoulli:2", "bernoulli:3")};
  bits.data_moments = {{at::tensor({0.2F, 0.4F})}};
  EXPECT_EQ(bits.shown_range(), (std::pair{0.0, 1.0}));
}

}  // namespace
}  // namespace harmonium
