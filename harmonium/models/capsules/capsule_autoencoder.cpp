#include "harmonium/models/capsules/capsule_autoencoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_tensors.h"

namespace harmonium {

namespace {

constexpr double encoder_spread = 0.01, decoder_spread = 0.09;  // of what feeds the outputs at the start

std::int64_t encoder_outputs(const CapsuleShape& shape) {
  require_capsules(shape);
  return shape.composites > 0 ? shape.composites * (8 + shape.distortions) : shape.parts * (6 + shape.channels);
}

}  // namespace

void require_capsules(const CapsuleShape& shape) {
  constexpr std::int64_t most = 1 << 16;  // of anything: products of two of them are no danger yet
  const auto fits = [](std::int64_t count, std::int64_t least) { return count >= least && count <= most; };
  require(fits(shape.canvas.rows, 1) && fits(shape.canvas.columns, 1), "capsules draw no picture of {} × {} pixels",
          shape.canvas.rows, shape.canvas.columns);
  require(fits(shape.parts, 1), "@parts {}: give a number of parts, 1 or more", shape.parts);
  require(fits(shape.composites, 0), "@composites {}: give a number, 1 or more, or 0 for parts alone",
          shape.composites);
  require(fits(shape.template_size, 1), "@template {}: give the side of a template in pixels, 1 or more",
          shape.template_size);
  require(fits(shape.channels, 1), "@channels {}: give a number of templates for each part, 1 or more", shape.channels);
  require(fits(shape.distortions, 0), "@distortions {}: give a number that is not negative", shape.distortions);
  require(shape.output.sharpness > 0, "@sharpness must be positive, not {}", shape.output.sharpness);
}

CapsuleAutoencoder::CapsuleAutoencoder(CapsuleShape shape, at::ScalarType type)
    : shape_(std::move(shape)),
      encoder_("encoder.", shape_.canvas.pixels(), shape_.layers_of_encoder(), encoder_outputs(shape_), encoder_spread,
               shape_.encoder),
      decoder_("decoder.", std::max<std::int64_t>(1, shape_.distortions + shape_.composites), shape_.hidden,
               shape_.parts * (6 + shape_.channels), decoder_spread) {
  encoder_.declare(parameters_, type);
  if (shape_.composites > 0) decoder_.declare(parameters_, type);
  parameters_.insert("templates",
                     at::zeros({shape_.parts, shape_.channels, shape_.template_size, shape_.template_size}, type));
}

CapsuleAutoencoder CapsuleAutoencoder::with_parameters(Moments parameters) const {
  CapsuleAutoencoder other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

CapsuleAutoencoder CapsuleAutoencoder::to(const at::TensorOptions& options) const {
  return with_parameters(parameters_.to(options).clone());
}

at::Tensor CapsuleAutoencoder::ink(const at::Tensor& raw) const { return shape_.negative_ink ? raw : nonnegative(raw); }

at::Tensor CapsuleAutoencoder::templates() const { return ink(parameters_["templates"]); }

void CapsuleAutoencoder::place_parts(Scene& scene) const {
  const std::int64_t L = shape_.channels;
  scene.intensities = ink(scene.part_codes.narrow(2, 0, L));
  scene.part_poses = pose_matrix(scene.part_codes.narrow(2, L, 6), shape_.poses);
  if (shape_.composites == 0) return;
  scene.intensities = scene.intensities * ink(scene.pose.narrow(1, 0, 1)).unsqueeze(2);
  scene.part_poses = composed(scene.part_poses, pose_matrix(scene.pose.narrow(1, 1, 6), shape_.poses).unsqueeze(1));
}

Scene CapsuleAutoencoder::describe(const at::Tensor& images, const CapsuleDisturbance& disturbance) const {
  require(images.dim() == 2 && images.size(1) == shape_.canvas.pixels(),
          "capsules for pictures of {} × {} pixels take rows of {} values, not of {}", shape_.canvas.rows,
          shape_.canvas.columns, shape_.canvas.pixels(), images.dim() == 2 ? images.size(1) : -1);
  const at::Tensor code = encoder_.forward(parameters_, images, disturbance.encoder_masks);
  const std::int64_t B = images.size(0), C = shape_.composites;
  if (C == 0) return placed(code.view({B, shape_.parts, numbers_of_part()}));
  const at::Tensor preferences = code.narrow(1, 0, C),
                   proposals = code.narrow(1, C, C * numbers_of_composite()).reshape({B, C, numbers_of_composite()});
  const at::Tensor shares =
      at::softmax(disturbance.manager_noise.defined() ? preferences + disturbance.manager_noise : preferences, 1);
  at::Tensor pose = (shares.unsqueeze(2) * proposals).sum(1);
  if (disturbance.distortion_mask.defined() && shape_.distortions > 0)
    pose = at::cat({pose.narrow(1, 0, 7), pose.narrow(1, 7, shape_.distortions) * disturbance.distortion_mask}, 1);
  Scene scene = decode(shares, pose);
  scene.preferences = preferences;
  scene.proposals = proposals;
  return scene;
}

Scene CapsuleAutoencoder::placed(const at::Tensor& part_codes) const {
  require(shape_.composites == 0 && part_codes.dim() == 3 && part_codes.size(1) == shape_.parts &&
              part_codes.size(2) == numbers_of_part(),
          "{} parts without composites take {} numbers each in every row", shape_.parts, numbers_of_part());
  Scene scene;
  scene.part_codes = part_codes;
  place_parts(scene);
  return scene;
}

Scene CapsuleAutoencoder::decode(const at::Tensor& shares, const at::Tensor& pose) const {
  require(shape_.composites > 0, "these capsules have no composites, so there is nothing to take apart");
  require(shares.dim() == 2 && shares.size(1) == shape_.composites && pose.dim() == 2 &&
              pose.size(0) == shares.size(0) && pose.size(1) == numbers_of_composite(),
          "{} composites take as many shares and {} numbers of a pose in every row", shape_.composites,
          numbers_of_composite());
  Scene scene;
  scene.shares = shares;
  scene.pose = pose;
  scene.part_codes = decoder_.forward(parameters_, at::cat({pose.narrow(1, 7, shape_.distortions), shares}, 1))
                         .view({shares.size(0), shape_.parts, numbers_of_part()});
  place_parts(scene);
  return scene;
}

DrawnParts CapsuleAutoencoder::drawn(const Scene& scene) const {
  return {.poses = scene.part_poses, .intensities = scene.intensities, .templates = templates()};
}

at::Tensor CapsuleAutoencoder::draw(const Scene& scene) const {
  return render(drawn(scene), shape_.canvas, shape_.output);
}

at::Tensor CapsuleAutoencoder::draw_parts(const Scene& scene) const {
  return contributions(drawn(scene), shape_.canvas);
}

CapsuleDisturbance CapsuleAutoencoder::disturbance(const Key& key, std::int64_t rows,
                                                   const DisturbanceRates& rates) const {
  require(rates.manager_noise >= 0 && rates.distortion_dropout >= 0 && rates.distortion_dropout < 1,
          "noise of {} and dropout of {} disturb no description", rates.manager_noise, rates.distortion_dropout);
  const at::TensorOptions options = parameters_["templates"].options().requires_grad(false);
  CapsuleDisturbance result{.encoder_masks = encoder_.dropout(key.fold_in(0), rows, rates.dropout, options),
                            .manager_noise = {},
                            .distortion_mask = {}};
  if (rates.manager_noise > 0 && shape_.composites > 0)
    result.manager_noise = uniform(key.fold_in(1), {rows, shape_.composites}, options) * rates.manager_noise;
  if (rates.distortion_dropout > 0 && shape_.composites > 0 && shape_.distortions > 0)
    result.distortion_mask =
        sample_bernoulli(key.fold_in(2), at::full({rows, shape_.distortions}, 1 - rates.distortion_dropout, options));
  return result;
}

DrawingErrors drawing_errors(const DrawnParts& parts, const at::Tensor& images, const Canvas& canvas,
                             const OutputForm& form) {
  if (!has_render_kernel(parts, canvas)) {
    const at::Tensor squares = (render_by_tensors(parts, canvas, form) - images).square();
    return {.of_rows = squares.detach().sum(1, /*keepdim=*/false, at::kDouble), .sum = squares.sum()};
  }
  const RenderGradient found = render_error_gradient(parts, images, canvas, form);
  // Has the derivatives that were found; its value is replaced by the error's.
  const at::Tensor linear = (parts.poses * found.gradient.poses).sum() +
                            (parts.intensities * found.gradient.intensities).sum() +
                            (parts.templates * found.gradient.templates).sum();
  return {.of_rows = found.squared_error,
          .sum = linear + (found.squared_error.sum().to(linear.scalar_type()) - linear.detach())};
}

at::Tensor drawing_error(const DrawnParts& parts, const at::Tensor& images, const Canvas& canvas,
                         const OutputForm& form) {
  return drawing_errors(parts, images, canvas, form).sum;
}

}  // namespace harmonium
