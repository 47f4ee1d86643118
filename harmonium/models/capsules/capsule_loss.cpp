#include "harmonium/models/capsules/capsule_loss.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/pose.h"

namespace harmonium {

namespace {

// Σ max(0, |x| − 0.1)²
at::Tensor beyond_free_zone(const at::Tensor& x) {
  constexpr double free_zone = 0.1;
  return at::relu(x.abs() - free_zone).square().sum();
}

at::Tensor code_size(const CapsuleShape& shape, const Scene& scene) {
  at::Tensor nice = rest_pose(scene.part_codes.options().requires_grad(false));
  if (shape.composites == 0) {
    constexpr double size_at_start = 2;
    nice.narrow(0, 2, 2).fill_(size_at_start);
    return beyond_free_zone(scene.part_codes.narrow(2, shape.channels, 6) - pose_as(shape.poses, nice));
  }
  const at::Tensor rest = pose_as(shape.poses, nice);
  return beyond_free_zone(scene.preferences) + beyond_free_zone(scene.proposals.narrow(2, 1, 6) - rest) +
         beyond_free_zone(scene.proposals.narrow(2, 7, shape.distortions));
}

}  // namespace

at::Tensor CapsuleLoss::total() const { return error + weight_decay + code_decay + scaling + sharing; }

CapsuleLoss capsule_loss(const CapsuleAutoencoder& model, const at::Tensor& images, const CapsulePenalties& penalties,
                         const CapsuleDisturbance& disturbance) {
  const CapsuleShape& shape = model.shape();
  const auto rows = static_cast<double>(images.size(0));
  require(rows > 0, "no pictures at all have no error; give at least one");
  const Scene scene = model.describe(images, disturbance);
  CapsuleLoss loss;
  loss.error = drawing_error(model.drawn(scene), images, shape.canvas, shape.output) /
               (rows * static_cast<double>(shape.canvas.pixels()));
  loss.weight_decay = at::zeros_like(loss.error);
  for (const auto& [name, value] : model.parameters().entries())
    loss.weight_decay = loss.weight_decay + penalties.weight_decay * beyond_free_zone(value);
  loss.code_decay = penalties.code_decay * code_size(shape, scene) / rows;
  loss.scaling = penalties.scaling * at::relu(1 - pose_determinant(scene.part_poses)).square().mean();
  loss.sharing = at::zeros_like(loss.error);
  if (shape.composites > 0) {
    const at::Tensor noisy =
        disturbance.manager_noise.defined() ? scene.preferences + disturbance.manager_noise : scene.preferences;
    loss.sharing = -penalties.sharing * (at::logsumexp(at::log_softmax(noisy, 1), 0) - std::log(rows)).sum();
  }
  return loss;
}

}  // namespace harmonium
