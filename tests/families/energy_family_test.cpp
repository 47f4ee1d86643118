// What families of free-energy models share: pictures of the covariance around a row, and what becomes of a model whose
// density has no integral.
#include "harmonium/families/energy_family_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

RunData table_of_values() {
  const at::Tensor x = normal(Key(1), {400, 4}), mixed = x.matmul(normal(Key(2), {4, 4})) + 3;
  return {.train = {.name = "table", .values = mixed}, .valid = {}};
}

std::unique_ptr<Model> energy_model(const std::string& family) {
  RunData data = table_of_values();
  RunConfig config = usual_config(family);
  config.data = "table";
  config.visible = "gaussian";
  if (find_family(family).has("hidden")) config.hidden = "6";
  config.updates = 30;
  config.averaging = 5;
  resolve(config, data);
  const Family& found = find_family(family);
  const auto trainee = found.train(config, data, *found.make(config, data, {}));
  while (!trainee->training().finished()) trainee->training().step();
  return trainee->kept();
}

// The covariance by inverting the precision, where the picture's way is a triangular solution.
TEST(EnergyFamilies, ShowTheLeadingEigenvectorsOfTheCovarianceAroundARow) {
  const Dataset rows = table_of_values().train;
  for (const char* family : {"pot", "mpot", "covariance_rbm", "mcrbm", "ssrbm"}) {
    SCOPED_TRACE(family);
    const auto model = energy_model(family);
    const auto& energy = dynamic_cast<const EnergyFamilyModel&>(*model);
    const auto all = model->exhibits({.checkpoint = {}, .train = rows});
    const auto found =
        std::ranges::find_if(all, [](const Exhibit& each) { return each.id == "covariance_eigenvectors"; });
    ASSERT_NE(found, all.end());
    ASSERT_EQ(found->rows.sizes(), (std::vector<std::int64_t>{6 * 5, 4})) << "six rows, and four directions of each";
    const at::Tensor v = energy.whitening().apply(rows.first(1).to_float());
    const at::Tensor precision = energy.energy()->precision_given(v, model->parameters().to(at::kDouble));
    // x = v (spread T)⁻¹ + mean
    const at::Tensor back = at::linalg_inv(energy.whitening().spread * energy.whitening().matrix);
    const at::Tensor covariance = back.t().matmul(at::linalg_inv(precision)).matmul(back);
    const at::Tensor directions = found->rows.narrow(0, 1, 4).to(at::kDouble), images = directions.matmul(covariance);
    const at::Tensor variances = (directions * images).sum(1);
    EXPECT_LT((images - variances.unsqueeze(1) * directions).abs().max().item<double>(),
              1e-5 * variances.max().item<double>());
    EXPECT_TRUE(at::equal(variances, std::get<0>(variances.sort(0, /*descending=*/true))));
    EXPECT_NEAR(variances.sum().item<double>(), covariance.trace().item<double>(),
                1e-5 * covariance.trace().item<double>());
  }
}

TEST(EnergyFamilies, WithoutSuchACovarianceOrWithoutRowsLeaveThePictureOut) {
  const auto shows = [](const Model& model, const Dataset& rows) {
    const auto all = model.exhibits({.checkpoint = {}, .train = rows});
    return std::ranges::any_of(all, [](const Exhibit& each) { return each.id == "covariance_eigenvectors"; });
  };
  EXPECT_FALSE(shows(*energy_model("deep_energy"), table_of_values().train));
  EXPECT_FALSE(shows(*energy_model("ssrbm"), {}));
}

TEST(EnergyFamilies, RefuseToDrawFromADensityWithoutAnIntegral) {
  const auto model = energy_model("ssrbm");
  EXPECT_EQ(model->generator()->draw({.count = 5}).size(0), 5);
  at::Tensor(model->parameters()["visible_hidden.weights"]).mul_(50);
  const auto draw = [&] { (void)model->generator()->draw({.count = 5}); };
  support::expect_mentions(support::message_of(draw), {"cannot be sampled", "too large for its precisions"});
  for (const Exhibit& each : model->exhibits({.checkpoint = {}, .train = {}})) EXPECT_NE(each.id, "samples");
}

}  // namespace
}  // namespace harmonium
