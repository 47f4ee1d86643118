#include "harmonium/data/capsule_scenes.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/data/synthetic.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/render_tensors.h"

namespace harmonium {
namespace {

TEST(CapsuleScenes, AreWhatTheirAnswersDraw) {
  const CapsuleScenes teacher(Key(1));
  const CapsuleScenes::Scenes scenes = teacher.draw(50, Key(2));
  const at::Tensor again = render_by_tensors(scenes.parts, {14, 14}, {}).clamp(0, 1);
  EXPECT_LT((scenes.data.values.to(at::kDouble) - again).abs().max().item<double>(), 1e-6);
  EXPECT_EQ(scenes.data.columns(), 14 * 14);
  EXPECT_TRUE(scenes.poses.narrow(1, 0, 2).abs().le(0.15).all().item<bool>());
  EXPECT_TRUE(
      scenes.poses.narrow(1, 2, 2).ge(0.8).logical_and(scenes.poses.narrow(1, 2, 2).le(1.25)).all().item<bool>());
  EXPECT_TRUE(scenes.poses.select(1, 5).abs().le(0.5).all().item<bool>());
}

TEST(CapsuleScenes, ShowSomethingInEveryPictureAndEveryComposite) {
  const CapsuleScenes::Scenes scenes = CapsuleScenes(Key(3)).draw(300, Key(4));
  EXPECT_GT(scenes.data.values.amax(1).min().item<double>(), 0.3);
  EXPECT_LT(scenes.data.values.mean().item<double>(), 0.5);
  // 300 draws of 3: each count is within five standard deviations (40) of 100; false alarms below 1e-5.
  for (int label = 0; label < 3; ++label)
    EXPECT_NEAR(scenes.data.labels.eq(label).sum().item<double>(), 100, 41) << label;
}

TEST(CapsuleScenes, GiveARowByItsNumberAlone) {
  const CapsuleScenes teacher(Key(1));
  const CapsuleScenes::Scenes few = teacher.draw(7, Key(2)), many = teacher.draw(90, Key(2));
  EXPECT_TRUE(at::equal(few.data.values, many.data.values.narrow(0, 0, 7)));
  EXPECT_TRUE(at::equal(few.data.labels, many.data.labels.narrow(0, 0, 7)));
  EXPECT_FALSE(at::equal(teacher.draw(7, Key(3)).data.values, few.data.values));
}

// The poses can be found again: descent on what is drawn, from poses moved by a hundredth, comes back to the picture.
// Along edges of templates the error is not smooth, so steps shrink.
TEST(CapsuleScenes, CanBeReadFromTheirPicturesByDescent) {
  const CapsuleScenes teacher(Key(5));
  const CapsuleScenes::Scenes scenes = teacher.draw(3, Key(6));
  const at::Tensor target = render(scenes.parts, {14, 14}, {.sharpness = 20});
  DrawnParts parts = scenes.parts;
  parts.poses = parts.poses + 0.01 * at::sin(at::arange(parts.poses.numel(), at::kDouble)).view(parts.poses.sizes());
  const double before =
      render_error_gradient(parts, target, {14, 14}, {.sharpness = 20}).squared_error.sum().item<double>();
  at::Tensor first = at::zeros_like(parts.poses), second = at::zeros_like(parts.poses);
  constexpr int steps = 3000;
  double after = before;
  for (int t = 1; t <= steps; ++t) {
    const RenderGradient found = render_error_gradient(parts, target, {14, 14}, {.sharpness = 20});
    after = found.squared_error.sum().item<double>();
    first = 0.9 * first + 0.1 * found.gradient.poses;
    second = 0.99 * second + 0.01 * found.gradient.poses.square();
    const double rate = 0.003 * std::pow(1 - static_cast<double>(t - 1) / steps, 3);
    parts.poses -= rate * (first / (1 - std::pow(0.9, t))) / ((second / (1 - std::pow(0.99, t))).sqrt() + 1e-12);
  }
  EXPECT_GT(before, 1e-2);
  EXPECT_LT(after, 1e-6 * before);
}

TEST(CapsuleScenes, AreADataSetOfThatName) {
  const Dataset data = synthetic("capsule_scenes", "test", {.rows = 5});
  EXPECT_EQ(data.name, "capsule_scenes:test");
  EXPECT_EQ(data.columns(), 196);
  EXPECT_EQ(synthetic("capsule_scenes", "train", {.size = 10, .rows = 5}).columns(), 100);
  EXPECT_FALSE(synthetic_entropy("capsule_scenes").has_value());
  EXPECT_THROW(CapsuleScenes(Key(1), {.side = 1}), Error);
}

}  // namespace
}  // namespace harmonium
