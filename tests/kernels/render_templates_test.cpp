#include "harmonium/kernels/render_templates.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <ATen/Parallel.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_tensors.h"
#include "tests/support/drawn_parts.h"

namespace harmonium {
namespace {

using support::all_output_models;
using support::distance_to_edges;
using support::random_parts;
using support::random_pictures;
using Size = support::DrawnSize;

// Poses under which the whole picture is the whole template.
at::Tensor identity_poses(std::int64_t rows, std::int64_t parts) {
  return at::eye(3, at::kDouble).narrow(0, 0, 2).expand({rows, parts, 2, 3}).contiguous();
}

DrawnParts by_autograd(const DrawnParts& parts, const at::Tensor& target, const Canvas& canvas,
                       const OutputForm& form) {
  const auto leaf = [](const at::Tensor& x) { return x.clone().requires_grad_(); };
  const DrawnParts leaves{
      .poses = leaf(parts.poses), .intensities = leaf(parts.intensities), .templates = leaf(parts.templates)};
  (render_by_tensors(leaves, canvas, form) - target).square().sum().backward();
  return {.poses = leaves.poses.grad(), .intensities = leaves.intensities.grad(), .templates = leaves.templates.grad()};
}

double error_of(const DrawnParts& parts, const at::Tensor& target, const Canvas& canvas, const OutputForm& form) {
  return (render(parts, canvas, form) - target).square().sum().item<double>();
}

void expect_near(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  EXPECT_LT((a - b).abs().max().item<double>(), tolerance) << what;
}

TEST(RenderTemplates, DrawsATemplateAsLargeAsThePictureAsItIs) {
  const DrawnParts parts{.poses = identity_poses(1, 1),
                         .intensities = at::ones({1, 1, 1}, at::kDouble),
                         .templates = uniform(Key(1), {1, 1, 9, 9}, at::kDouble)};
  for (const OutputModel model : {OutputModel::semisoft, OutputModel::sum, OutputModel::maximum})
    expect_near(render(parts, {9, 9}, {.model = model}), parts.templates.reshape({1, 81}), 1e-12, "picture");
}

// The definition of bilinear sampling, pixel by pixel and tap by tap.
TEST(RenderTemplates, SamplesAsTheFormulaSays) {
  const Size size{.rows = 2, .parts = 2, .channels = 2, .side = 3, .canvas = {5, 4}};
  const DrawnParts parts = random_parts(size, 3);
  const at::Tensor a = contributions(parts, size.canvas);
  for (std::int64_t b = 0; b < size.rows; ++b)
    for (std::int64_t k = 0; k < size.parts; ++k)
      for (std::int64_t p = 0; p < size.canvas.pixels(); ++p) {
        const double x = (static_cast<double>(p % 4) + 0.5) / 4, y = (static_cast<double>(p / 4) + 0.5) / 5;
        const at::Tensor q = parts.poses[b][k].mv(at::tensor({x, y, 1.0}, at::kDouble));
        const double u = 3 * q[0].item<double>() - 0.5, v = 3 * q[1].item<double>() - 0.5;
        double expected = 0;
        for (std::int64_t l = 0; l < size.channels; ++l)
          for (std::int64_t row = 0; row < 3; ++row)
            for (std::int64_t column = 0; column < 3; ++column)
              expected += parts.intensities[b][k][l].item<double>() *
                          std::max(0.0, 1 - std::abs(u - static_cast<double>(column))) *
                          std::max(0.0, 1 - std::abs(v - static_cast<double>(row))) *
                          parts.templates[k][l][row][column].item<double>();
        EXPECT_NEAR(a[b][k][p].item<double>(), expected, 1e-12);
      }
}

TEST(RenderTemplates, AgreesWithTensorOperationsInValuesErrorsAndGradients) {
  for (const std::int64_t channels : {1, 3})
    for (const OutputModel model : all_output_models)
      for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
        SCOPED_TRACE(format("model {}, {} channels", static_cast<int>(model), channels));
        const Size size{.rows = 70, .channels = channels};
        const DrawnParts parts = random_parts(size, 5, type);
        const at::Tensor target = random_pictures(size, type);
        const OutputForm form{.model = model, .sharpness = 30};
        const double off_by = type == at::kDouble ? 1e-12 : 1e-4;
        expect_near(render(parts, size.canvas, form), render_by_tensors(parts, size.canvas, form), off_by, "pictures");
        const RenderGradient found = render_error_gradient(parts, target, size.canvas, form);
        const auto agrees = [&](const at::Tensor& one, const at::Tensor& other, const char* what) {
          expect_near(one, other, off_by * (1 + other.abs().max().item<double>()), what);
        };
        agrees(found.squared_error,
               (render_by_tensors(parts, size.canvas, form) - target).square().sum(1).to(at::kDouble), "errors");
        const DrawnParts expected = by_autograd(parts, target, size.canvas, form);
        agrees(found.gradient.poses, expected.poses, "poses");
        agrees(found.gradient.intensities, expected.intensities, "intensities");
        agrees(found.gradient.templates, expected.templates, "templates");
      }
}

// Central differences of the error. Points lie where no sampling place is within 1e-3 of a cell's edge, and for
// maximum and clamped nothing is that near a tie.
TEST(RenderTemplates, HasTheGradientOfItsError) {
  const Size size{.rows = 2, .parts = 2, .channels = 2, .side = 3, .canvas = {4, 4}};
  const at::Tensor target = random_pictures(size);
  for (const OutputModel model : all_output_models) {
    SCOPED_TRACE(static_cast<int>(model));
    const OutputForm form{.model = model, .sharpness = 20};
    for (std::uint64_t seed = 1;; ++seed) {
      ASSERT_LT(seed, 2000U) << "no parts away from kinks";
      DrawnParts parts = random_parts(size, seed);
      const at::Tensor a = contributions(parts, size.canvas);
      const double to_edge = distance_to_edges(parts, size.canvas),
                   to_tie = std::min((a.select(1, 0) - a.select(1, 1)).abs().min().item<double>(),
                                     (a.sum(1) - 1).abs().min().item<double>());
      const bool has_ties = model == OutputModel::maximum || model == OutputModel::clamped;
      if (to_edge < 1e-3 || (has_ties && to_tie < 1e-3)) continue;
      const RenderGradient found = render_error_gradient(parts, target, size.canvas, form);
      const auto check = [&](at::Tensor& values, const at::Tensor& gradient, const char* what) {
        const at::Tensor flat = values.view(-1), expected = at::zeros_like(flat);
        constexpr double step = 1e-5;
        for (std::int64_t i = 0; i < flat.size(0); ++i) {
          const double before = flat[i].item<double>();
          flat[i] = before + step;
          const double above = error_of(parts, target, size.canvas, form);
          flat[i] = before - step;
          const double below = error_of(parts, target, size.canvas, form);
          flat[i] = before;
          expected[i] = (above - below) / (2 * step);
        }
        expect_near(gradient.reshape(-1), expected, 1e-6 * (1 + expected.abs().max().item<double>()), what);
      };
      check(parts.poses, found.gradient.poses, "poses");
      check(parts.intensities, found.gradient.intensities, "intensities");
      check(parts.templates, found.gradient.templates, "templates");
      break;
    }
  }
}

TEST(RenderTemplates, DoesNotDependOnTheNumberOfThreads) {
  const Size size{.rows = 200, .parts = 4, .side = 5, .canvas = {9, 8}};
  const DrawnParts parts = random_parts(size, 7, at::kFloat);
  const at::Tensor target = random_pictures(size, at::kFloat);
  const auto found = [&](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    RenderGradient result = render_error_gradient(parts, target, size.canvas, {});
    at::set_num_threads(before);
    return result;
  };
  const RenderGradient one = found(1), two = found(2);
  EXPECT_TRUE(at::equal(one.squared_error, two.squared_error));
  EXPECT_TRUE(at::equal(one.gradient.poses, two.gradient.poses));
  EXPECT_TRUE(at::equal(one.gradient.intensities, two.gradient.intensities));
  EXPECT_TRUE(at::equal(one.gradient.templates, two.gradient.templates));
}

TEST(RenderTemplates, DrawsNothingOffThePicture) {
  const Size size{};
  DrawnParts parts = random_parts(size, 11);
  parts.poses.select(3, 2).add_(100);
  const at::Tensor target = random_pictures(size);
  for (const OutputModel model : all_output_models) {
    const at::Tensor picture = render(parts, size.canvas, {.model = model});
    const double empty = model == OutputModel::logistic ? 0.5 : 0.0;
    EXPECT_LT((picture - empty).abs().max().item<double>(), 1e-12) << static_cast<int>(model);
    const DrawnParts gradient = render_error_gradient(parts, target, size.canvas, {.model = model}).gradient;
    for (const at::Tensor& each : {gradient.poses, gradient.intensities, gradient.templates})
      EXPECT_TRUE(each.eq(0).all().item<bool>()) << static_cast<int>(model);
  }
}

TEST(RenderTemplates, BecomesTheMaximumWhenSharpAndNeverOverflows) {
  const Size size{.rows = 20};
  DrawnParts parts = random_parts(size, 13);
  const at::Tensor largest = render(parts, size.canvas, {.model = OutputModel::maximum});
  expect_near(render(parts, size.canvas, {.sharpness = 1e6}), largest, 1e-5, "sharp");
  parts = random_parts(size, 13, at::kFloat);
  parts.intensities.mul_(1e4);  // β a of 1e6
  EXPECT_TRUE(at::isfinite(render(parts, size.canvas, {})).all().item<bool>());
  const RenderGradient found = render_error_gradient(parts, random_pictures(size, at::kFloat), size.canvas, {});
  EXPECT_TRUE(at::isfinite(found.gradient.poses).all().item<bool>());
}

// The sum over pixels is that over the template, by the ratio of areas: 2 % for what sampling at 28 × 28 points misses.
TEST(RenderTemplates, KeepsTheInkOfAPartByTheRatioOfAreas) {
  const double s = 2.2, z = 0.2, turn = 0.4, c = std::cos(turn), d = std::sin(turn);
  const at::Tensor a = at::tensor({c * s, (c * z - d) * 1.9, d * s, (d * z + c) * 1.9}, at::kDouble).view({2, 2});
  const at::Tensor b = 0.5 - a.mv(at::tensor({0.47, 0.53}, at::kDouble));
  const at::Tensor templates = uniform(Key(2), {1, 1, 11, 11}, at::kDouble);
  const at::Tensor picture = render({.poses = at::cat({a, b.unsqueeze(1)}, 1).view({1, 1, 2, 3}),
                                     .intensities = at::ones({1, 1, 1}, at::kDouble),
                                     .templates = templates},
                                    {28, 28}, {.model = OutputModel::sum});
  const double expected = templates.sum().item<double>() * std::pow(28.0 / 11, 2) / (s * 1.9);
  EXPECT_NEAR(picture.sum().item<double>() / expected, 1, 0.02);
}

TEST(RenderTemplates, TakesEverySizeAndFlatPoses) {
  for (const Size& size : {Size{.rows = 0}, Size{.parts = 1}, Size{.side = 1}, Size{.canvas = {1, 8}},
                           Size{.canvas = {9, 2}}, Size{.rows = 65, .parts = 2, .channels = 2}}) {
    DrawnParts parts = random_parts(size, 17);
    if (size.rows > 0) {
      parts.poses[0].narrow(2, 0, 2).zero_();  // s = 0: every pixel sees one place of the template
      parts.poses[size.rows - 1].narrow(1, 0, 1).mul_(-1);
    }
    const RenderGradient found = render_error_gradient(parts, random_pictures(size), size.canvas, {});
    for (const at::Tensor& each : {found.squared_error, found.gradient.poses, found.gradient.intensities,
                                   found.gradient.templates, render(parts, size.canvas, {})})
      EXPECT_TRUE(at::isfinite(each).all().item<bool>());
    if (size.rows > 0)
      expect_near(contributions(parts, size.canvas), contributions_by_tensors(parts, size.canvas), 1e-12, "parts");
  }
}

TEST(RenderTemplates, RefusesWhatDoesNotFitTogether) {
  const Size size{};
  DrawnParts parts = random_parts(size, 1);
  EXPECT_THROW((void)render(parts, {0, 5}, {}), Error);
  EXPECT_THROW((void)render(parts, size.canvas, {.sharpness = 0}), Error);
  EXPECT_THROW((void)render_error_gradient(parts, at::zeros({5, 3}, at::kDouble), size.canvas, {}), Error);
  parts.templates = parts.templates.to(at::kFloat);
  EXPECT_THROW((void)render(parts, size.canvas, {}), Error);
}

}  // namespace
}  // namespace harmonium
