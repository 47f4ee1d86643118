#include "harmonium/models/capsules/refinement.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

struct RefinedModel {
  CapsuleAutoencoder model;
  at::Tensor images;
  PosePrior prior;
};

RefinedModel refined_model() {
  CapsuleAutoencoder model({.canvas = {8, 8},
                            .composites = 3,
                            .parts = 2,
                            .template_size = 3,
                            .distortions = 2,
                            .hidden = {4, 4, 4},
                            .output = {.sharpness = 10}},
                           at::kDouble);
  const at::Tensor images = uniform(Key(9), {40, 64}, at::kDouble);
  initialize(model, Key(1), images.mean(0));
  return {model, images, pose_prior(model, images)};
}

at::Tensor squared_errors(const RefinedModel& refined_by, const Scene& scene, const at::Tensor& images) {
  return (refined_by.model.draw(scene) - images).square().sum(1);
}

TEST(CapsuleRefinement, ComparesCompositesByWhatTheyExplain) {
  const RefinedModel all = refined_model();
  const Scene seen = all.model.describe(all.images), found = refined(all.model, all.prior, all.images, {.steps = 0});
  expect_close(found.proposals, seen.proposals, 0);
  const double variance = squared_errors(all, seen, all.images).mean().item<double>() / 64;
  for (std::int64_t i = 0; i < 3; ++i) {
    at::Tensor own = at::zeros({40, 3}, at::kDouble);
    own.select(1, i).fill_(1);
    const at::Tensor p = seen.proposals.select(1, i), e = p - all.prior.means[i],
                     precision = at::linalg_inv(all.prior.factors[i].mm(all.prior.factors[i].t()));
    const at::Tensor expected = seen.shares.select(1, i).log() -
                                squared_errors(all, all.model.decode(own, p), all.images) / (2 * variance) -
                                0.5 * (e.mm(precision) * e).sum(1);
    expect_close(found.preferences.select(1, i), expected, 1e-6);
  }
  EXPECT_TRUE(at::equal(found.shares.argmax(1), found.preferences.argmax(1)));
}

TEST(CapsuleRefinement, MakesNoDescriptionWorseAndMostBetter) {
  const RefinedModel all = refined_model();
  const at::Tensor before = refined(all.model, all.prior, all.images, {.steps = 0}).preferences,
                   after = refined(all.model, all.prior, all.images, {.steps = 20, .candidates = 3}).preferences;
  EXPECT_TRUE((after >= before).all().item<bool>());
  EXPECT_GT((after > before + 1e-3).to(at::kDouble).mean().item<double>(), 0.9);
  // Only candidates move.
  const at::Tensor one = refined(all.model, all.prior, all.images, {.steps = 20, .candidates = 1}).preferences;
  EXPECT_EQ((one != before).sum().item<std::int64_t>(), (one != before).any(1).sum().item<std::int64_t>());
}

// Pictures that composite 1 draws, with a pose of its own Gaussian: what was drawn is found again.
TEST(CapsuleRefinement, FindsPosesThatTheEncoderNeverLearntToSee) {
  RefinedModel all = refined_model();
  constexpr std::int64_t rows = 12;
  const std::int64_t n = all.model.numbers_of_composite();
  all.prior.means.copy_(all.model.describe(all.images).proposals.mean(0));
  all.prior.factors.copy_(at::eye(n, at::kDouble).mul(0.1).expand({3, n, n}));
  all.prior.pixel_error.fill_(1e-4);
  at::Tensor shares = at::zeros({rows, 3}, at::kDouble);
  shares.select(1, 1).fill_(1);
  const at::Tensor poses = all.prior.means[1] + 0.1 * normal(Key(3), {rows, n}, at::kDouble);
  const at::Tensor images = all.model.draw(all.model.decode(shares, poses));
  const at::Tensor before = squared_errors(all, all.model.describe(images), images),
                   after = squared_errors(all, refined(all.model, all.prior, images, {.steps = 200, .candidates = 3}),
                                          images);
  EXPECT_LT(after.mean().item<double>(), 0.05 * before.mean().item<double>());
}

TEST(CapsuleRefinement, LooksAtEveryRowByItself) {
  const RefinedModel all = refined_model();
  const Scene whole = refined(all.model, all.prior, all.images, {.steps = 5}),
              part = refined(all.model, all.prior, all.images.narrow(0, 10, 7), {.steps = 5});
  expect_close(part.preferences, whole.preferences.narrow(0, 10, 7), 1e-8);
  expect_close(part.pose, whole.pose.narrow(0, 10, 7), 1e-8);
}

TEST(CapsuleRefinement, SaysWhatItNeeds) {
  RefinedModel all = refined_model();
  all.prior.pixel_error = at::Tensor();
  EXPECT_THROW((void)refined(all.model, all.prior, all.images), Error);
  EXPECT_THROW((void)refined(all.model, refined_model().prior, all.images, {.candidates = 0}), Error);
}

}  // namespace
}  // namespace harmonium
