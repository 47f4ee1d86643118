#include "harmonium/models/capsules/posing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/drawn_parts.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

struct PosedModel {
  CapsuleAutoencoder model;
  at::Tensor images;
  PosePrior prior;
};

PosedModel posed_model(OutputModel output = OutputModel::semisoft) {
  CapsuleAutoencoder model({.canvas = {8, 8},
                            .composites = 3,
                            .parts = 2,
                            .template_size = 3,
                            .distortions = 2,
                            .hidden = {4, 4, 4},
                            .output = {.model = output, .sharpness = 10}},
                           at::kDouble);
  const at::Tensor images = uniform(Key(9), {40, 64}, at::kDouble);
  initialize(model, Key(1), images.mean(0));
  return {model, images, pose_prior(model, images)};
}

TEST(CapsulePosing, SweepsOneNumberAndLeavesTheOthers) {
  const PosedModel posed = posed_model();
  const std::vector<std::string> names = names_of_pose(posed.model);
  ASSERT_EQ(names, (std::vector<std::string>{"intensity", "t0", "t1", "s0", "s1", "shear", "rotation", "distortion:0",
                                             "distortion:1"}));
  const at::Tensor y = posed.model.describe(posed.images).shares.select(1, 1),
                   proposals = posed.model.describe(posed.images).proposals.select(1, 1), share = y / y.sum();
  for (std::int64_t number = 0; number < 9; ++number) {
    SCOPED_TRACE(names[static_cast<std::size_t>(number)]);
    const Scene scene = swept(posed.model, posed.prior, 1, number, 5);
    // The spread of the pictures' own proposals, weighed by their shares.
    const at::Tensor own = proposals.select(1, number), mean = (share * own).sum();
    const double deviation = ((share * (own - mean).square()).sum() + 1e-6).sqrt().item<double>();
    at::Tensor expected = (share.unsqueeze(1) * proposals).sum(0);
    expected.narrow(0, 7, 2).zero_();
    expected = expected.expand({5, 9}).clone();
    expected.select(1, number).add_(at::arange(-2, 3, at::kDouble) * deviation);
    expect_close(scene.pose, expected, 1e-10);
    EXPECT_TRUE(scene.shares.select(1, 1).eq(1).all().item<bool>());
  }
  EXPECT_THROW((void)swept(posed.model, posed.prior, 3, 0, 5), Error);
}

TEST(CapsulePosing, DrawsAroundAPictureByTheSpreadOfItsComposite) {
  const PosedModel posed = posed_model();
  const at::Tensor image = posed.images.narrow(0, 4, 1);
  const auto composite = posed.model.describe(image).shares.argmax(1).item<std::int64_t>();
  const Scene own = described_as(posed.model, image, composite),
              still = scenes_around(posed.model, posed.prior, image, 0, Key(2), 3),
              near = scenes_around(posed.model, posed.prior, image, 1, Key(2), 4000),
              far = scenes_around(posed.model, posed.prior, image, 2, Key(2), 4000);
  expect_close(posed.model.draw(still), posed.model.draw(own).expand({3, 64}), 1e-12);
  expect_close(far.pose - own.pose, 2 * (near.pose - own.pose), 1e-12);
  // 4000 draws, five standard errors of a variance.
  const at::Tensor wanted = posed.prior.factors[composite].square().sum(1),
                   found = (near.pose - own.pose).square().mean(0);
  EXPECT_TRUE((found / wanted - 1).abs().le(5 * std::sqrt(2.0 / 4000)).all().item<bool>());
}

TEST(CapsulePosing, ReadsPicturesAsAnyComposite) {
  const PosedModel posed = posed_model();
  CapsuleDisturbance sure;
  sure.manager_noise = at::zeros({40, 3}, at::kDouble);
  sure.manager_noise.select(1, 2).fill_(2000);
  expect_close(posed.model.draw(described_as(posed.model, posed.images, 2)),
               posed.model.draw(posed.model.describe(posed.images, sure)), 1e-12);
}

TEST(CapsulePosing, SharesPicturesOutAmongParts) {
  for (const OutputModel output : support::all_output_models) {
    const PosedModel posed = posed_model(output);
    const Scene scene = posed.model.describe(posed.images);
    const at::Tensor parts = shared_out(posed.model, scene);
    expect_close(parts.sum(1), posed.model.draw(scene), 1e-12);
    EXPECT_TRUE(parts.ge(0).all().item<bool>());
  }
}

}  // namespace
}  // namespace harmonium
