#include <gtest/gtest.h>

#include "harmonium/families/machine_file.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/families/shown_range.h"
#include "harmonium/kernels/random.h"
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

TEST(ShownRange, OfColumnsThatMayBeGrayValuesIsZeroToOne) {
  EXPECT_EQ(range_of_values(at::tensor({0.0, 0.5, 0.9}), at::tensor({0.0, 0.5, 0.3})), (std::pair{0.0, 1.0}));
  // A column in [0, 1] with mean ½ deviates by ½ at most.
  const auto [low, high] = range_of_values(at::tensor({0.5}), at::tensor({0.8}));
  EXPECT_NEAR(low, -1.1, 1e-6);
  EXPECT_NEAR(high, 2.1, 1e-6);
}

std::unique_ptr<Model> made_for(const std::string& family, const std::string& hidden, double spread) {
  RunData data{.train = {.name = "table", .values = spread * normal(Key(1), {400, 4})}, .valid = {}};
  RunConfig config = usual_config(family);
  config.data = "table";
  config.visible = "gaussian";
  if (find_family(family).has("hidden")) config.hidden = hidden;
  resolve(config, data);
  return find_family(family).make(config, data, {});
}

// Pictures around zero were cut there where their values are small.
TEST(ShownRange, OfSmallValuesAroundZeroIsNotCutAtZeroWhateverTheFamily) {
  const std::vector<std::pair<std::string, std::string>> all = {{"rbm", "5"},
                                                                {"rbm", "spike_slab:5"},
                                                                {"pot", ""},
                                                                {"mpot", "3"},
                                                                {"covariance_rbm", ""},
                                                                {"mcrbm", "3"},
                                                                {"ssrbm", "3"},
                                                                {"deep_energy", ""},
                                                                {"factor_analyzers", ""},
                                                                {"rnade", "5"},
                                                                {"s3c", "5"}};
  for (const auto& [family, hidden] : all) {
    SCOPED_TRACE(family + " " + hidden);
    const auto [low, high] = made_for(family, hidden, 0.3)->shown_range();
    EXPECT_LT(low, -0.4);
    EXPECT_GT(low, -1.2);
    EXPECT_GT(high, 0.4);
    EXPECT_LT(high, 1.2);
  }
}

TEST(Filters, OfMeansAndCovariancesHaveOneScale) {
  const std::vector<Exhibit> all = made_for("mcrbm", "3", 1)->exhibits({.checkpoint = {}, .train = {}});
  double largest = 0;
  int filters = 0;
  for (const Exhibit& each : all)
    if (each.weights) {
      largest = std::max(largest, each.rows.abs().max().item<double>());
      EXPECT_EQ(each.full_colour, all.front().full_colour) << each.id;
      ++filters;
    }
  EXPECT_EQ(filters, 2);
  EXPECT_EQ(largest, all.front().full_colour);
}

}  // namespace
}  // namespace harmonium
