#include "harmonium/data/capsule_scenes.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// A ring or a stroke through the middle: smooth, and never the same twice.
at::Tensor smooth_templates(const Key& key, std::int64_t parts, std::int64_t size) {
  const at::Tensor place = (at::arange(size, at::kDouble) + 0.5) * (2.0 / static_cast<double>(size)) - 1,
                   x = place.unsqueeze(0), y = place.unsqueeze(1),
                   u = uniform(key, {parts, 4}, at::kDouble).view({parts, 4, 1, 1});
  const at::Tensor turn = u.select(1, 0) * M_PI, bend = 1.6 * u.select(1, 1) - 0.8;
  const at::Tensor along = x * turn.cos() + y * turn.sin(), across = y * turn.cos() - x * turn.sin();
  const at::Tensor width = 0.15 + 0.15 * u.select(1, 2), length = 0.5 + 0.5 * u.select(1, 3);
  const at::Tensor stroke = (-((across - bend * (along.square() - 0.4)) / width).square()).exp();
  return (stroke * (-(along / length).square().square()).exp()).unsqueeze(1);
}

// Numbers from −1 to 1, rows × columns: row r by (key, r) alone.
at::Tensor symmetric(const Key& key, std::int64_t rows, std::int64_t columns) {
  return 2 * uniform(key, {rows, columns}, at::kDouble) - 1;
}

}  // namespace

CapsuleScenes::CapsuleScenes(const Key& key, const CapsuleScenesOptions& options) : options_(options) {
  const auto& [side, C, K, S, D] = options_;
  require(side >= 2 && side <= 256, "capsule_scenes: the side of a picture must be 2 to 256 pixels, not {}", side);
  require(C >= 1 && K >= 1 && S >= 2 && D >= 0,
          "capsule_scenes: {} composites of {} parts of {} × {} pixels with {} distortions cannot be drawn", C, K, S, S,
          D);
  templates_ = smooth_templates(key.fold_in(0), K, S);
  // Parts lie around the middle, each with a template about a third of the composite.
  constexpr double reach = 0.28, size = 2.6, turned = 1.5, moves = 0.03, turns = 0.15;
  const at::Tensor placed = symmetric(key.fold_in(1), C * K, 3),
                   bent = normal(key.fold_in(2), {C * D * K, 3}, at::kDouble);
  const auto pose_of = [](const at::Tensor& numbers, double shift, double scale, double turn) {
    const at::Tensor shape = at::full({numbers.size(0), 1}, scale, at::kDouble);
    return at::cat(
        {numbers.narrow(1, 0, 2) * shift, shape, shape, at::zeros_like(shape), numbers.narrow(1, 2, 1) * turn}, 1);
  };
  usual_ = pose_of(placed, reach, size, turned).view({C, K, 6});
  bent_ = pose_of(bent, moves, 0, turns).view({C, D, K, 6});
}

CapsuleScenes::Scenes CapsuleScenes::draw(std::int64_t rows, const Key& key) const {
  require(rows >= 0, "capsule_scenes: cannot draw {} rows", rows);
  constexpr double farthest = 0.15, least_scale = 0.8, most_scale = 1.25, most_turn = 0.5;
  const std::int64_t C = options_.composites, K = options_.parts, D = options_.distortions;
  const at::Tensor chosen = (uniform(key.fold_in(0), {rows}, at::kDouble) * static_cast<double>(C)).to(at::kLong);
  const at::Tensor free = symmetric(key.fold_in(1), rows, 4),
                   scale = (least_scale + most_scale + (most_scale - least_scale) * free.narrow(1, 2, 1)) / 2;
  Scenes scenes;
  scenes.poses = at::cat(
      {free.narrow(1, 0, 2) * farthest, scale, scale, at::zeros_like(scale), free.narrow(1, 3, 1) * most_turn}, 1);
  scenes.distortions = normal(key.fold_in(2), {rows, D}, at::kDouble);
  const at::Tensor bends =
      (bent_.index_select(0, chosen) * scenes.distortions.view({rows, D, 1, 1})).sum(1);  // rows × K × 6
  const at::Tensor parts = usual_.index_select(0, chosen) + bends;
  scenes.parts = {.poses = composed(pose_matrix(parts), pose_matrix(scenes.poses).unsqueeze(1)),
                  .intensities = at::ones({rows, K, 1}, at::kDouble),
                  .templates = templates_};
  const at::Tensor pictures = render(scenes.parts, {options_.side, options_.side}, {});
  scenes.data = {.name = "capsule_scenes",
                 .values = pictures.clamp(0, 1).to(at::kFloat),
                 .labels = chosen,
                 .image = ImageShape{.height = options_.side, .width = options_.side}};
  return scenes;
}

}  // namespace harmonium
