// How capsules begin: initialize() of capsule_autoencoder.h.
#include <ATen/ATen.h>

#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/capsules/capsule_autoencoder.h"

namespace harmonium {

namespace {

// K × (L + 6): parts of half the picture's size, somewhat turned, with their middles near the middle.
at::Tensor starting_parts(const CapsuleShape& shape, const Key& key) {
  constexpr double intensity = 0.7, size = 2, spread = 0.15, farthest = 0.3, turn = 0.5;
  const std::int64_t K = shape.parts, L = shape.channels;
  at::Tensor start = at::zeros({K, L + 6}, at::kDouble);
  start.narrow(1, 0, L).fill_(intensity);
  start.narrow(1, L, 2).copy_((normal(key.fold_in(0), {K, 2}, at::kDouble) * spread).clamp(-farthest, farthest));
  start.narrow(1, L + 2, 2).fill_(size);
  start.narrow(1, L + 5, 1).copy_(normal(key.fold_in(1), {K, 1}, at::kDouble) * turn);
  start.narrow(1, L, 6).copy_(pose_as(shape.poses, start.narrow(1, L, 6)));
  return start;
}

// C preferences of 0, and C composites of intensity 1 at rest.
at::Tensor starting_composites(const CapsuleShape& shape) {
  at::Tensor each = at::zeros({7 + shape.distortions}, at::kDouble);
  each.narrow(0, 0, 1).fill_(1);
  each.narrow(0, 1, 6).copy_(pose_as(shape.poses, rest_pose(at::kDouble)));
  return at::cat({at::zeros({shape.composites}, at::kDouble), each.repeat({shape.composites})});
}

// A soft blob, so that poses have a gradient before templates have content.
at::Tensor starting_templates(const CapsuleShape& shape, const Key& key) {
  constexpr double ground = 0.05, noise = 0.05, height = 0.5, width = 0.3;
  const std::int64_t S = shape.template_size;
  const at::Tensor place = (at::arange(S, at::kDouble) + 0.5) * (2.0 / static_cast<double>(S)) - 1,
                   blob = (-(place.square().unsqueeze(1) + place.square()) / width).exp() * height;
  return ground + blob + noise * normal(key, {shape.parts, shape.channels, S, S}, at::kDouble);
}

// Sets the output bias such that `input` gives exactly `output`: what random weights add would turn and move parts.
void begin_at(const SkipNet& net, Moments& parameters, const at::Tensor& input, const at::Tensor& output) {
  at::Tensor& bias = parameters[net.output_bias()];
  bias.zero_();
  bias.copy_(output.to(bias.options()).reshape({-1}) - net.forward(parameters, input.unsqueeze(0)).squeeze(0));
}

}  // namespace

void initialize(CapsuleAutoencoder& model, const Key& key, const at::Tensor& mean_picture) {
  const c10::NoGradGuard no_gradients;
  const CapsuleShape& shape = model.shape();
  require(mean_picture.dim() == 1 && mean_picture.size(0) == shape.canvas.pixels(),
          "capsules for pictures of {} pixels begin at as many means", shape.canvas.pixels());
  Moments& parameters = model.parameters();
  const at::TensorOptions options = parameters["templates"].options();
  const at::Tensor mean = mean_picture.to(options), parts = starting_parts(shape, key.fold_in(0));
  model.encoder().initialize(parameters, key.fold_in(1));
  parameters["templates"].copy_(starting_templates(shape, key.fold_in(2)));
  if (shape.composites == 0) return begin_at(model.encoder(), parameters, mean, parts);
  begin_at(model.encoder(), parameters, mean, starting_composites(shape));
  const std::int64_t C = shape.composites, D = shape.distortions;
  model.decoder().initialize(parameters, key.fold_in(3));
  // One share is 1 and the others are 0: with weights as small as a sum over all would want, composites would begin
  // nearly alike.
  at::Tensor of_shares = parameters[model.decoder().weights(0)].narrow(0, D, C);
  of_shares.copy_(normal(key.fold_in(4), of_shares.sizes(), options) * 0.5);
  begin_at(model.decoder(), parameters,
           at::cat({at::zeros({D}, options), at::full({C}, 1.0 / static_cast<double>(C), options)}), parts);
}

}  // namespace harmonium
