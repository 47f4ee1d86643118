// What traversals, planes, interpolations and posterior draws show, by a decoder that can be read off; and that models
// with real latent variables are such spaces.
#include "harmonium/families/latent_pictures.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/families/draw_model.h"
#include "harmonium/families/ladder_model.h"
#include "harmonium/families/vae_model.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::expect_close;

// Values are the variables themselves; rows lie at half of themselves, and draws a thousand numbers further on.
class Mirror final : public LatentSpace {
 public:
  explicit Mirror(std::vector<float> nats) : nats_(std::move(nats)) {}
  [[nodiscard]] std::int64_t variables() const override { return static_cast<std::int64_t>(nats_.size()); }
  [[nodiscard]] at::Tensor decode(const at::Tensor& variables) const override { return variables.clone(); }
  [[nodiscard]] at::Tensor place(const at::Tensor& rows) const override { return rows / 2; }
  [[nodiscard]] at::Tensor posterior(const at::Tensor& rows, std::int64_t draws, std::uint64_t seed) const override {
    return (rows.unsqueeze(1) + static_cast<double>(seed)).expand({rows.size(0), draws, rows.size(1)});
  }
  [[nodiscard]] at::Tensor information(const at::Tensor&) const override { return at::tensor(nats_); }

 private:
  std::vector<float> nats_;
};

at::Tensor some_rows(std::int64_t rows, std::int64_t columns) { return normal(Key(5), {rows, columns}); }

TEST(LatentPictures, TraverseTheVariablesThatSayMost) {
  const Mirror space({0.1F, 2.5F, 0.0F, 1.25F});
  const Traversals found = traversals(space, some_rows(3, 4), 2, 5);
  EXPECT_EQ(found.variables, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(variables_in_words(found), "1 (2.50 nats), 3 (1.25 nats)");
  at::Tensor wanted = at::zeros({10, 4});
  for (std::int64_t step = 0; step < 5; ++step) {
    wanted[step][1] = -3 + 1.5 * static_cast<double>(step);
    wanted[5 + step][3] = -3 + 1.5 * static_cast<double>(step);
  }
  expect_close(found.shown, wanted, 1e-6);
  EXPECT_EQ(traversals(space, some_rows(3, 4), 9).variables.size(), 4U) << "no more lines than variables";
}

TEST(LatentPictures, ShowThePlaneAtPlacesOfEqualProbability) {
  constexpr std::int64_t side = 4;
  const at::Tensor places = latent_plane(Mirror({1, 1}), side).view({side, side, 2});
  const at::Tensor below = 0.5 * at::erfc(-places / std::sqrt(2.0));  // Φ
  for (std::int64_t row = 0; row < side; ++row)
    for (std::int64_t column = 0; column < side; ++column) {
      EXPECT_NEAR(below[row][column][0].item<double>(), (static_cast<double>(column) + 0.5) / side, 1e-6);
      EXPECT_NEAR(below[row][column][1].item<double>(), (static_cast<double>(row) + 0.5) / side, 1e-6);
    }
  EXPECT_THROW((void)latent_plane(Mirror({1, 1, 1}), side), Error);
}

TEST(LatentPictures, GoFromRowToRowAndShowDrawsBesideThem) {
  const Mirror space({1, 1, 1});
  const at::Tensor from = some_rows(2, 3), to = from + 4;
  const at::Tensor lines = interpolations(space, from, to, 3).view({2, 5, 3});
  for (std::int64_t pair = 0; pair < 2; ++pair) {
    expect_close(lines[pair][0], from[pair], 1e-6);
    for (std::int64_t step = 0; step < 3; ++step)
      expect_close(lines[pair][1 + step], from[pair] / 2 + static_cast<double>(step), 1e-6);
    expect_close(lines[pair][4], to[pair], 1e-6);
  }
  const at::Tensor drawn = posterior_draws(space, from, 2, 1000).view({2, 3, 3});
  expect_close(drawn.select(1, 0), from, 1e-6);
  expect_close(drawn.select(1, 2), from + 1000, 1e-3);
}

TEST(LatentPictures, ChooseThePlaneOrTraversalsForTheReport) {
  const Dataset rows{.name = "rows", .values = some_rows(5, 2)};
  const std::optional<Exhibit> plane = latent_exhibit(Mirror({1, 1}), {});
  ASSERT_TRUE(plane.has_value());
  EXPECT_EQ(plane->columns * plane->columns, plane->rows.size(0));
  EXPECT_FALSE(latent_exhibit(Mirror({1, 1, 1}), {}).has_value()) << "nothing says which variables matter";
  const std::optional<Exhibit> lines = latent_exhibit(Mirror({1, 2, 3}), rows);
  ASSERT_TRUE(lines.has_value());
  EXPECT_EQ(lines->rows.size(0), 3 * lines->columns);
  support::expect_mentions(lines->caption, {"2 (3.00 nats), 1 (2.00 nats), 0 (1.00 nats)"});
}

// ---- models

template <class Net>
Net drawn_at_random(Net net) {
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(0.5 * normal(Key(7).fold_in(i++), value.sizes(), value.options()));
  return net;
}

std::vector<std::unique_ptr<Model>> models_with_decoders() {
  std::vector<std::unique_ptr<Model>> all;
  const auto vae = [&](VaeStructure structure) {
    all.push_back(std::make_unique<VaeModel>(ModelInfo{.family = "vae"}, drawn_at_random(Vae(std::move(structure)))));
  };
  vae({.visible = "bernoulli:6", .hidden = {5}, .latent = 2});
  vae({.visible = "bernoulli:6", .hidden = {5}, .latent = 3, .above = {{.hidden = {}, .latent = 2}}});
  vae({.visible = "logistic_mixture:6x4:2",
       .hidden = {},
       .latent = 3,
       .picture = PictureNetShape{.height = 2, .width = 3, .channels = 4, .halvings = 1}});
  all.push_back(std::make_unique<LadderModel>(
      ModelInfo{.family = "ladder"},
      drawn_at_random(Ladder({.visible = "bernoulli:6", .latent = {2, 1}, .channels = 4}))));
  all.push_back(std::make_unique<LadderModel>(ModelInfo{.family = "ladder"},
                                              drawn_at_random(Ladder({.visible = "logistic_mixture:6x4:2",
                                                                      .height = 2,
                                                                      .width = 3,
                                                                      .latent = {1},
                                                                      .scales = {1},
                                                                      .channels = 4}))));
  all.push_back(std::make_unique<DrawModel>(
      ModelInfo{.family = "draw"},
      drawn_at_random(
          DrawNet({.visible = "bernoulli:6", .height = 2, .width = 3, .steps = 2, .latent = 2, .hidden = 4}))));
  return all;
}

TEST(LatentSpace, IsWhatModelsReconstructAndDrawBy) {
  const at::Tensor rows = (at::arange(24).reshape({4, 6}) % 2).to(at::kFloat);
  for (const std::unique_ptr<Model>& model : models_with_decoders()) {
    SCOPED_TRACE(model->subtitle());
    const LatentSpace* space = model->latent_space();
    ASSERT_NE(space, nullptr);
    const at::Tensor places = space->place(rows);
    ASSERT_EQ(places.sizes(), (std::vector<std::int64_t>{4, space->variables()}));
    expect_close(space->decode(places), model->encoder()->reconstruct(rows), 1e-5);
    const at::Tensor nats = space->information(rows);
    EXPECT_EQ(nats.sizes(), (std::vector<std::int64_t>{space->variables()}));
    // Means of decoded draws of the prior are those of the model's samples: 6 comparisons at 5.5 standard errors.
    constexpr std::int64_t count = 4000;
    const at::Tensor made = space->decode(normal(Key(3), {count, space->variables()})).to(at::kDouble),
                     drawn = model->generator()->draw({.count = count, .seed = 4}).to(at::kDouble);
    const at::Tensor error = ((made.var(0) + drawn.var(0)) / static_cast<double>(count)).sqrt();
    EXPECT_LT(((made.mean(0) - drawn.mean(0)) / error).abs().max().item<double>(), support::allowed_deviations);
    const at::Tensor again = space->posterior(rows, 3, 5);
    ASSERT_EQ(again.sizes(), (std::vector<std::int64_t>{4, 3, 6}));
    EXPECT_TRUE(at::equal(again, space->posterior(rows, 3, 5))) << "same seed";
    EXPECT_FALSE(at::equal(again.select(1, 0), again.select(1, 1))) << "draws differ";
  }
}

// The KL of every variable, in closed form: of a single layer ½(μ² + σ² − 1) − log σ.
TEST(LatentSpace, KnowsWhatEachVariableSays) {
  const VaeModel model({.family = "vae"}, support::small_vae(2).to(at::kFloat));
  const at::Tensor rows = support::all_rows(4).to(at::kFloat);
  const Vae::Posterior q = model.vae().encode(rows);
  const at::Tensor kl = (0.5 * (q.means.square() + (2 * q.log_deviations).exp() - 1) - q.log_deviations).mean(0);
  expect_close(model.latent_space()->information(rows), kl, 1e-5);
  expect_close(model.latent_space()->place(rows), q.means, 1e-6);
}

}  // namespace
}  // namespace harmonium
