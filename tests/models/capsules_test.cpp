#include "harmonium/models/capsules/capsule_autoencoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_tensors.h"
#include "harmonium/models/capsules/capsule_loss.h"
#include "harmonium/models/capsules/pose_prior.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

CapsuleShape small_shape(std::int64_t composites = 2, std::int64_t channels = 1) {
  return {.canvas = {8, 8},
          .composites = composites,
          .parts = 2,
          .template_size = 3,
          .channels = channels,
          .distortions = 2,
          .hidden = {4, 4, 4},
          .output = {.sharpness = 10}};
}

// As the thesis varies it: another encoder, and poses by their matrices.
CapsuleShape varied_shape(std::int64_t composites) {
  CapsuleShape shape = small_shape(composites);
  shape.encoder_hidden = {5, 3};
  shape.encoder = {.skips = false, .squares = false};
  shape.poses = PoseForm::matrix;
  return shape;
}

CapsuleAutoencoder begun_capsules(const CapsuleShape& shape, std::uint64_t seed = 1) {
  CapsuleAutoencoder model(shape, at::kDouble);
  initialize(model, Key(seed), uniform(Key(8), {shape.canvas.pixels()}, at::kDouble));
  return model;
}

at::Tensor random_images(std::int64_t rows, std::int64_t pixels = 64) {
  return uniform(Key(9), {rows, pixels}, at::kDouble);
}

TEST(Capsules, BeginAtRestForTheMeanPictureWithTheirPartsOnTheCanvas) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CapsuleAutoencoder model = begun_capsules(small_shape(3), seed);
    const Scene scene = model.describe(uniform(Key(8), {1, 64}, at::kDouble));
    expect_close(scene.shares, at::full({1, 3}, 1.0 / 3, at::kDouble), 1e-10);
    at::Tensor start = at::zeros({9}, at::kDouble);
    start[0] = 1;
    start.narrow(0, 1, 6).copy_(rest_pose(at::kDouble));
    expect_close(scene.pose[0], start, 1e-10);
    // A part's middle is where its pose says: within ±0.3 of that of the picture.
    EXPECT_LE(scene.part_codes.narrow(2, 1, 2).abs().max().item<double>(), 0.3 + 1e-10);
    EXPECT_GT(model.draw(scene).mean().item<double>(), 0.01);
  }
}

TEST(Capsules, BeginAlikeWhicheverFormTheirPosesHave) {
  CapsuleShape shape = small_shape(3);
  const at::Tensor mean = uniform(Key(8), {1, 64}, at::kDouble);
  const CapsuleAutoencoder nice = begun_capsules(shape);
  shape.poses = PoseForm::matrix;
  const CapsuleAutoencoder matrix = begun_capsules(shape);
  const Scene a = nice.describe(mean), b = matrix.describe(mean);
  expect_close(a.part_poses, b.part_poses, 1e-10);
  expect_close(a.intensities, b.intensities, 1e-10);
  at::Tensor entries = at::zeros({6}, at::kDouble);
  entries[0] = entries[4] = 1;  // the identity
  expect_close(b.pose[0].narrow(0, 1, 6), entries, 1e-10);
}

TEST(Capsules, AreWhatTheManagerChoseWhenItIsSure) {
  CapsuleAutoencoder model = begun_capsules(small_shape(3));
  const at::Tensor images = random_images(5);
  CapsuleDisturbance sure;
  sure.manager_noise = at::zeros({5, 3}, at::kDouble);
  sure.manager_noise.select(1, 1).fill_(60);
  const Scene scene = model.describe(images, sure);
  expect_close(scene.pose, scene.proposals.select(1, 1), 1e-14);
}

// A mixture of experts draws every composite's own picture and weighs their errors. Where the manager is sure, that is
// what drawing the mean pose comes to, C times cheaper; so are all gradients.
TEST(Capsules, AreAMixtureOfExpertsWhereTheManagerIsSure) {
  constexpr std::int64_t B = 6, C = 3;
  const CapsuleAutoencoder model = begun_capsules(small_shape(C), 2);
  const at::Tensor images = random_images(B);
  CapsuleDisturbance sure;
  sure.manager_noise = at::zeros({B, C}, at::kDouble);
  for (std::int64_t row = 0; row < B; ++row) sure.manager_noise[row][row % C] = 2000;
  const auto leaves_of = [&] {
    return model.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
  };
  const Moments one = leaves_of(), all = leaves_of();
  const CapsuleAutoencoder chosen = model.with_parameters(one), experts = model.with_parameters(all);
  const CapsuleShape& shape = model.shape();
  const at::Tensor error =
      drawing_error(chosen.drawn(chosen.describe(images, sure)), images, shape.canvas, shape.output);
  error.backward();
  const Scene seen = experts.describe(images, sure);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (std::int64_t i = 0; i < C; ++i) {
    const at::Tensor own = at::zeros({B, C}, at::kDouble);
    own.select(1, i).fill_(1);
    const DrawnParts drawn = experts.drawn(experts.decode(own, seen.proposals.select(1, i)));
    const at::Tensor errors = (render_by_tensors(drawn, shape.canvas, shape.output) - images).square().sum(1);
    sum = sum + (seen.shares.select(1, i) * errors).sum();
  }
  sum.backward();
  expect_close(error, sum, 1e-12);
  for (const auto& [name, leaf] : one.entries()) expect_close(leaf.grad(), all[name].grad(), 1e-11, name);
}

TEST(Capsules, WithOneCompositeHaveNoUseForAManager) {
  const CapsuleAutoencoder model = begun_capsules(small_shape(1));
  const Scene scene = model.describe(random_images(4));
  EXPECT_TRUE(scene.shares.eq(1).all().item<bool>());
  // The share's row of weights is one more bias.
  Moments folded = model.parameters().clone();
  folded["decoder.hidden1.bias"] += folded["decoder.hidden1.weights"][2];
  folded["decoder.hidden1.weights"][2].zero_();
  expect_close(model.with_parameters(folded).describe(random_images(4)).part_poses, scene.part_poses, 1e-12);
}

TEST(Capsules, AreDisturbedByTheKeyAlone) {
  const CapsuleAutoencoder model = begun_capsules(small_shape());
  const CapsuleDisturbance one = model.disturbance(Key(3), 50, {}), same = model.disturbance(Key(3), 50, {}),
                           other = model.disturbance(Key(4), 50, {});
  EXPECT_TRUE(at::equal(one.manager_noise, same.manager_noise) && at::equal(one.distortion_mask, same.distortion_mask));
  EXPECT_FALSE(at::equal(one.manager_noise, other.manager_noise));
  EXPECT_TRUE(one.manager_noise.ge(0).logical_and(one.manager_noise.lt(10)).all().item<bool>());
  EXPECT_TRUE(one.distortion_mask.eq(0).logical_or(one.distortion_mask.eq(1)).all().item<bool>());
  const at::Tensor images = random_images(5);
  EXPECT_TRUE(at::equal(model.describe(images).part_poses, model.describe(images).part_poses));
}

// Every term written out for two rows.
TEST(CapsuleLoss, IsTheSumOfItsTermsAsTheyAreDefined) {
  const CapsuleAutoencoder model = begun_capsules(small_shape());
  const at::Tensor images = random_images(2);
  const CapsulePenalties penalties{.weight_decay = 0.3, .code_decay = 0.4, .scaling = 0.5, .sharing = 0.6};
  const CapsuleDisturbance disturbance = model.disturbance(Key(3), 2, {.dropout = 0.5, .manager_noise = 2});
  const Scene scene = model.describe(images, disturbance);
  const CapsuleLoss loss = capsule_loss(model, images, penalties, disturbance);
  expect_close(loss.error, (model.draw(scene) - images).square().mean(), 1e-12);
  const auto beyond = [](double x) { return std::pow(std::max(0.0, std::abs(x) - 0.1), 2); };
  double decay = 0, code = 0, scaling = 0, sharing = 0;
  const at::Tensor theta = model.parameters().flatten();
  for (std::int64_t i = 0; i < theta.size(0); ++i) decay += beyond(theta[i].item<double>());
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 2; ++i) {
      code += beyond(scene.preferences[row][i].item<double>());
      for (int j = 1; j < 9; ++j)
        code += beyond(scene.proposals[row][i][j].item<double>() - (j == 3 || j == 4 ? 1 : 0));
    }
    for (int k = 0; k < 2; ++k) {
      const at::Tensor m = scene.part_poses[row][k];
      const double det = (m[0][0] * m[1][1] - m[0][1] * m[1][0]).item<double>();
      scaling += std::pow(std::max(0.0, 1 - det), 2) / 4;
    }
  }
  for (int i = 0; i < 2; ++i) sharing -= std::log(scene.shares.select(1, i).mean().item<double>());
  EXPECT_NEAR(loss.weight_decay.item<double>(), 0.3 * decay, 1e-10);
  EXPECT_NEAR(loss.code_decay.item<double>(), 0.4 * code / 2, 1e-12);
  EXPECT_NEAR(loss.scaling.item<double>(), 0.5 * scaling, 1e-12);
  EXPECT_NEAR(loss.sharing.item<double>(), 0.6 * sharing, 1e-12);
  EXPECT_NEAR(loss.total().item<double>(),
              (loss.error + loss.weight_decay + loss.code_decay + loss.scaling + loss.sharing).item<double>(), 1e-12);
}

// Central differences for every parameter, through both nets, the manager and the drawing; dropout and noise are held.
TEST(CapsuleLoss, HasTheGradientOfCentralDifferences) {
  for (const CapsuleShape& shape : {small_shape(2), small_shape(0, 2), varied_shape(2), varied_shape(0)}) {
    SCOPED_TRACE(shape.composites);
    const CapsuleAutoencoder model = begun_capsules(shape, 4);
    const at::Tensor images = random_images(3);
    const CapsulePenalties penalties{.weight_decay = 1e-3, .code_decay = 1e-3, .scaling = 1, .sharing = 1e-2};
    const CapsuleDisturbance disturbance = model.disturbance(Key(3), 3, {.manager_noise = 2});
    const Moments leaves = model.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
    capsule_loss(model.with_parameters(leaves), images, penalties, disturbance).total().backward();
    const auto value = [&](const Moments& parameters) {
      return capsule_loss(model.with_parameters(parameters), images, penalties, disturbance).total().item<double>();
    };
    constexpr double step = 1e-6;
    for (const auto& [name, leaf] : leaves.entries()) {
      const at::Tensor gradient = leaf.grad().reshape({-1});
      const double scale = gradient.abs().max().item<double>();
      EXPECT_GT(scale, 0) << name;
      for (std::int64_t i = 0; i < gradient.size(0); ++i) {
        Moments moved = model.parameters().clone();
        moved[name].view(-1)[i] += step;
        const double above = value(moved);
        moved[name].view(-1)[i] -= 2 * step;
        EXPECT_NEAR(gradient[i].item<double>(), (above - value(moved)) / (2 * step), 1e-5 * scale + 1e-9)
            << name << ' ' << i;
      }
    }
  }
}

TEST(CapsuleLoss, RaisesACompositeWhoseShareUnderflows) {
  const CapsuleAutoencoder model = begun_capsules(small_shape());
  CapsuleDisturbance never;
  never.manager_noise = at::tensor({0.0, -2000.0}, at::kDouble).expand({4, 2});
  const Moments leaves = model.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
  const CapsuleLoss loss = capsule_loss(model.with_parameters(leaves), random_images(4), {}, never);
  loss.sharing.backward();
  const at::Tensor gradient = leaves["encoder.output.bias"].grad();
  EXPECT_TRUE(at::isfinite(loss.sharing).item<bool>() && at::isfinite(gradient).all().item<bool>());
  EXPECT_LT(gradient[1].item<double>(), -1e-5);
}

// Draws have the moments that the pictures' own poses have, for the composite that is chosen. 20 000 draws; five
// standard errors, which of covariances are bounded by those of squares.
TEST(PosePrior, HasTheMomentsOfTheProposals) {
  for (const std::int64_t composites : {2, 0}) {
    const CapsuleAutoencoder model = begun_capsules(small_shape(composites), 3);
    const at::Tensor images = random_images(200);
    const PosePrior prior = pose_prior(model, images);
    const Scene seen = model.describe(images);
    const at::Tensor codes = composites > 0 ? seen.proposals.select(1, 0) : seen.part_codes.flatten(1),
                     weights = composites > 0 ? seen.shares.select(1, 0) : at::ones({200}, at::kDouble);
    const at::Tensor share = (weights / weights.sum()).unsqueeze(1), mean = (share * codes).sum(0), e = codes - mean,
                     covariance = (share * e).t().mm(e);
    constexpr std::int64_t n = 20'000;
    const Scene drawn = imagined(model, prior, Key(5), n);
    const at::Tensor all = composites > 0 ? drawn.pose : drawn.part_codes.flatten(1),
                     own = composites > 0 ? drawn.shares.select(1, 0).nonzero().squeeze(1) : at::arange(n),
                     d = all.index_select(0, own) - mean;
    const auto count = static_cast<double>(own.size(0));
    if (composites > 0) {
      EXPECT_NEAR(count / n, weights.mean().item<double>(), 5 * 0.5 / std::sqrt(n));
    }
    const at::Tensor deviation = (covariance.diagonal() + 1e-6).sqrt();
    EXPECT_TRUE((d.mean(0).abs() <= 5 * deviation / std::sqrt(count)).all().item<bool>());
    const at::Tensor allowed = 5 * std::sqrt(2 / count) * deviation.unsqueeze(1) * deviation + 1e-6;
    EXPECT_TRUE(((d.t().mm(d) / count - covariance).abs() <= allowed).all().item<bool>());
    EXPECT_TRUE(
        at::allclose(model.draw(imagined(model, prior, Key(5), 3)), model.draw(drawn).narrow(0, 0, 3), 0, 1e-12));
  }
}

TEST(Capsules, RefuseShapesThatAreNone) {
  EXPECT_THROW(CapsuleAutoencoder({.parts = 0}), Error);
  EXPECT_THROW(CapsuleAutoencoder({.template_size = 0}), Error);
  EXPECT_THROW(CapsuleAutoencoder({.hidden = {}}), Error);
  EXPECT_THROW((void)begun_capsules(small_shape()).describe(at::zeros({3, 5}, at::kDouble)), Error);
}

}  // namespace
}  // namespace harmonium
