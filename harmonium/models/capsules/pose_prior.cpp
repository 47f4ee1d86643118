#include "harmonium/models/capsules/pose_prior.h"

#include <ATen/ATen.h>

#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

PosePrior empty_pose_prior(const CapsuleAutoencoder& model) {
  const CapsuleShape& shape = model.shape();
  const std::int64_t C = std::max<std::int64_t>(1, shape.composites),
                     n = shape.composites > 0 ? model.numbers_of_composite() : shape.parts * model.numbers_of_part();
  const at::TensorOptions options = model.parameters()["templates"].options();
  return {.shares = at::zeros({C}, options),
          .means = at::zeros({C, n}, options),
          .factors = at::zeros({C, n, n}, options),
          .pixel_error = at::zeros({}, options)};
}

PosePrior pose_prior(const CapsuleAutoencoder& model, const at::Tensor& images) {
  const c10::NoGradGuard no_gradients;
  require(images.size(0) >= 1, "no pictures at all have no poses; give at least one");
  constexpr double ridge = 1e-6, no_rows = 1e-12;
  const Scene scene = model.describe(images);
  const bool composed_of_parts = model.shape().composites > 0;
  const at::Tensor codes =
                       (composed_of_parts ? scene.proposals : scene.part_codes.flatten(1).unsqueeze(1)).to(at::kDouble),
                   y = composed_of_parts ? scene.shares.to(at::kDouble)
                                         : at::ones({images.size(0), 1}, codes.options());  // rows × C
  const at::Tensor weights = y / y.sum(0).clamp_min(no_rows), means = (weights.unsqueeze(2) * codes).sum(0);
  PosePrior prior = empty_pose_prior(model);
  prior.shares.copy_(y.mean(0));
  prior.means.copy_(means);
  prior.pixel_error.copy_((model.draw(scene) - images).square().mean());
  for (std::int64_t i = 0; i < means.size(0); ++i) {
    const at::Tensor e = codes.select(1, i) - means[i];
    const at::Tensor covariance = (e * weights.narrow(1, i, 1)).t().mm(e) + ridge * at::eye(e.size(1), e.options());
    prior.factors[i].copy_(at::linalg_cholesky(covariance));
  }
  return prior;
}

Scene imagined(const CapsuleAutoencoder& model, const PosePrior& prior, const Key& key, std::int64_t rows) {
  const c10::NoGradGuard no_gradients;
  require(rows >= 0, "{} pictures cannot be imagined", rows);
  const std::int64_t C = prior.shares.size(0), n = prior.means.size(1);
  const at::TensorOptions options = prior.means.options();
  const at::Tensor sums = prior.shares.cumsum(0), u = uniform(key.fold_in(0), {rows}, options) * sums[C - 1];
  const at::Tensor chosen = at::searchsorted(sums, u, /*out_int32=*/false, /*right=*/true).clamp_max(C - 1);
  const at::Tensor z = normal(key.fold_in(1), {rows, n}, options);
  at::Tensor codes = prior.means.index_select(0, chosen);
  // Composite by composite: factors of every row would be rows × n × n numbers.
  for (std::int64_t i = 0; i < C; ++i) {
    const at::Tensor own = chosen.eq(i).nonzero().squeeze(1);
    codes.index_add_(0, own, z.index_select(0, own).mm(prior.factors[i].t()));
  }
  if (model.shape().composites == 0) return model.placed(codes.view({rows, model.shape().parts, -1}));
  return model.decode(at::one_hot(chosen, C).to(codes.scalar_type()), codes);
}

}  // namespace harmonium
