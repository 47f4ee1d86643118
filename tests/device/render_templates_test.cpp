// Templates drawn by the device's kernels beside those of the CPU. In float64 both compute the same but for rounding,
// and the sums of templates by integers are rounded at 2^-43 of the largest number in them or finer; gradients jump
// where a pixel falls on the edge of a cell, which rounding decides, so in float32 no place is near one.
#include "harmonium/kernels/render_templates.h"

#include <limits>

#include "harmonium/core/format.h"
#include "harmonium/models/capsules/capsule_loss.h"
#include "tests/device/support.h"
#include "tests/support/drawn_parts.h"

namespace harmonium {
namespace {

using support::all_output_models;
using support::distance_to_edges;
using support::DrawnSize;
using support::random_parts;
using support::random_pictures;

class RenderOnDevice : public OnDevice {
 protected:
  [[nodiscard]] DrawnParts there(const DrawnParts& parts) const {
    return {.poses = parts.poses.to(cuda_),
            .intensities = parts.intensities.to(cuda_),
            .templates = parts.templates.to(cuda_)};
  }

  // |a − b| ≤ tolerance · (1 + the largest |b|).
  static void expect_alike(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
    ASSERT_EQ(a.sizes(), b.sizes()) << what;
    EXPECT_TRUE(a.is_cuda()) << what;
    EXPECT_EQ(a.scalar_type(), b.scalar_type()) << what;
    if (b.numel() == 0) return;
    EXPECT_LE(largest_difference(a, b), tolerance * (1 + b.abs().max().item<double>())) << what;  // NaN fails
  }

  void expect_same_drawing(const DrawnParts& parts, const at::Tensor& target, const Canvas& canvas,
                           const OutputForm& form, double tolerance) const {
    const DrawnParts moved = there(parts);
    ASSERT_TRUE(has_render_kernel(moved, canvas));
    expect_alike(contributions(moved, canvas), contributions(parts, canvas), tolerance, "contributions");
    expect_alike(render(moved, canvas, form), render(parts, canvas, form), tolerance, "pictures");
    const RenderGradient here = render_error_gradient(parts, target, canvas, form),
                         found = render_error_gradient(moved, target.to(cuda_), canvas, form);
    expect_alike(found.squared_error, here.squared_error, tolerance, "errors");
    expect_alike(found.gradient.poses, here.gradient.poses, tolerance, "poses");
    expect_alike(found.gradient.intensities, here.gradient.intensities, tolerance, "intensities");
    expect_alike(found.gradient.templates, here.gradient.templates, tolerance, "templates");
  }
};

const std::vector<DrawnSize>& sizes() {
  static const std::vector<DrawnSize> all = {
      {},
      {.rows = 0},
      {.rows = 1, .parts = 1, .side = 1, .canvas = {1, 1}},
      {.rows = 70, .parts = 9, .side = 11, .canvas = {28, 28}},              // as published
      {.rows = 7, .parts = 2, .channels = 3, .side = 5, .canvas = {3, 40}},  // channels; wider than high
      {.rows = 3, .parts = 17, .side = 1, .canvas = {31, 2}},
      {.rows = 2, .parts = 2, .side = 70, .canvas = {20, 20}}};  // sums too many to be shared
  return all;
}

TEST_F(RenderOnDevice, AgreesWithTheCpuInEveryOutputModelAndSize) {
  for (const DrawnSize& size : sizes())
    for (const OutputModel model : all_output_models) {
      SCOPED_TRACE(
          format("model {}, {} rows, {} parts of side {}", static_cast<int>(model), size.rows, size.parts, size.side));
      expect_same_drawing(random_parts(size, 5), random_pictures(size), size.canvas, {.model = model, .sharpness = 30},
                          1e-10);
    }
}

TEST_F(RenderOnDevice, AgreesInFloat32AwayFromEdges) {
  for (const DrawnSize& size : {DrawnSize{}, DrawnSize{.rows = 3, .channels = 2, .side = 6, .canvas = {9, 8}}}) {
    std::uint64_t seed = 1;
    while (distance_to_edges(random_parts(size, seed, at::kFloat), size.canvas) < 1e-5) ASSERT_LT(++seed, 1000U);
    for (const OutputModel model : all_output_models) {
      SCOPED_TRACE(static_cast<int>(model));
      expect_same_drawing(random_parts(size, seed, at::kFloat), random_pictures(size, at::kFloat), size.canvas,
                          {.model = model, .sharpness = 30}, 1e-4);
    }
  }
}

// Values are smooth across edges, so those of large pictures agree in float32 as well.
TEST_F(RenderOnDevice, DrawsManyPicturesInFloat32) {
  const DrawnSize size{.rows = 500, .parts = 9, .side = 11, .canvas = {28, 28}};
  const DrawnParts parts = random_parts(size, 6, at::kFloat);
  expect_alike(render(there(parts), size.canvas, {}), render(parts, size.canvas, {}), 1e-4, "pictures");
}

// Sums over pictures are of integers: nothing depends on their order, nor on how blocks were scheduled.
TEST_F(RenderOnDevice, GivesTheSameBitsAgainAndForRowsInAnotherOrder) {
  const DrawnSize size{.rows = 300, .parts = 5, .channels = 2, .side = 7, .canvas = {16, 15}};
  const DrawnParts parts = there(random_parts(size, 7, at::kFloat));
  const at::Tensor target = random_pictures(size, at::kFloat).to(cuda_), order = permutation(Key(1), size.rows, cuda_);
  const RenderGradient one = render_error_gradient(parts, target, size.canvas, {}),
                       two = render_error_gradient(parts, target, size.canvas, {}),
                       moved = render_error_gradient({.poses = parts.poses.index_select(0, order),
                                                      .intensities = parts.intensities.index_select(0, order),
                                                      .templates = parts.templates},
                                                     target.index_select(0, order), size.canvas, {});
  EXPECT_EQ(count_of_differences(one.squared_error, two.squared_error), 0);
  EXPECT_EQ(count_of_differences(one.gradient.poses, two.gradient.poses), 0);
  EXPECT_EQ(count_of_differences(one.gradient.intensities, two.gradient.intensities), 0);
  EXPECT_EQ(count_of_differences(one.gradient.templates, two.gradient.templates), 0);
  EXPECT_EQ(count_of_differences(one.gradient.templates, moved.gradient.templates), 0);
  EXPECT_EQ(count_of_differences(one.gradient.poses.index_select(0, order), moved.gradient.poses), 0);
}

// The steps of the integers follow the size of the numbers.
TEST_F(RenderOnDevice, KeepsTheBitsOfVerySmallAndVeryLargeGradients) {
  const DrawnSize size{.rows = 20, .side = 5, .canvas = {12, 12}};
  for (const double scale : {1e-30, 1e-3, 1e12}) {
    SCOPED_TRACE(scale);
    DrawnParts parts = random_parts(size, 8);
    parts.intensities.mul_(scale);
    const at::Tensor target = random_pictures(size) * scale;
    const OutputForm form{.model = OutputModel::sum};
    const at::Tensor here = render_error_gradient(parts, target, size.canvas, form).gradient.templates,
                     found =
                         render_error_gradient(there(parts), target.to(cuda_), size.canvas, form).gradient.templates;
    EXPECT_LE(largest_difference(found, here), 1e-10 * here.abs().max().item<double>());
    EXPECT_GT(here.abs().max().item<double>(), 0);
  }
}

TEST_F(RenderOnDevice, DrawsNothingOffThePictureAndTakesFlatPoses) {
  const DrawnSize size{.rows = 4};
  DrawnParts parts = random_parts(size, 11);
  parts.poses.select(3, 2).add_(100);
  for (const OutputModel model : all_output_models) {
    const RenderGradient found =
        render_error_gradient(there(parts), random_pictures(size).to(cuda_), size.canvas, {.model = model});
    for (const at::Tensor& each : {found.gradient.poses, found.gradient.intensities, found.gradient.templates})
      EXPECT_TRUE(on_cpu(each).eq(0).all().item<bool>()) << static_cast<int>(model);
    expect_same_drawing(parts, random_pictures(size), size.canvas, {.model = model}, 1e-12);
  }
  parts = random_parts(size, 17);
  parts.poses[0].narrow(2, 0, 2).zero_();  // s = 0: every pixel sees one place of the template
  parts.poses[1].narrow(1, 0, 1).mul_(-1);
  expect_same_drawing(parts, random_pictures(size), size.canvas, {}, 1e-10);
}

TEST_F(RenderOnDevice, SaysWhatIsNoNumber) {
  const DrawnSize size{};
  DrawnParts parts = random_parts(size, 3);
  parts.intensities[2].fill_(std::numeric_limits<double>::quiet_NaN());
  const RenderGradient found = render_error_gradient(there(parts), random_pictures(size).to(cuda_), size.canvas, {});
  EXPECT_TRUE(on_cpu(found.squared_error).isnan()[2].item<bool>());
  EXPECT_TRUE(on_cpu(found.gradient.templates).isnan().all().item<bool>());
  EXPECT_FALSE(on_cpu(found.gradient.poses).isnan()[0].any().item<bool>());
  parts = random_parts(size, 3, at::kFloat);
  parts.intensities.mul_(1e4);  // β a of 1e6
  EXPECT_TRUE(on_cpu(at::isfinite(render(there(parts), size.canvas, {}))).all().item<bool>());
}

// The whole model's loss and gradients, through both nets.
TEST_F(RenderOnDevice, GivesCapsulesTheLossAndGradientOfTheCpu) {
  const CapsuleShape shape{
      .canvas = {12, 10}, .composites = 3, .parts = 4, .template_size = 5, .distortions = 2, .hidden = {20, 15, 10}};
  CapsuleAutoencoder model(shape, at::kDouble);
  initialize(model, Key(1), uniform(Key(8), {shape.canvas.pixels()}, at::kDouble));
  const at::Tensor images = uniform(Key(9), {30, shape.canvas.pixels()}, at::kDouble);
  const auto found_on = [&](const at::Device& device) {
    const CapsuleAutoencoder moved = model.to(at::TensorOptions().device(device));
    const Moments leaves = moved.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
    const at::Tensor loss = capsule_loss(moved.with_parameters(leaves), images.to(device), {},
                                         moved.disturbance(Key(3), 30, {.manager_noise = 2}))
                                .total();
    loss.backward();
    Moments gradient = leaves.map([](const at::Tensor& x) { return x.grad(); });
    return std::pair(loss.item<double>(), gradient);
  };
  const auto [here_loss, here] = found_on(at::kCPU);
  const auto [there_loss, there] = found_on(cuda_);
  EXPECT_NEAR(there_loss, here_loss, 1e-12);
  expect_near(there, here, 1e-10);
}

}  // namespace
}  // namespace harmonium
