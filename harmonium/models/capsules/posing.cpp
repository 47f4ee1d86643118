#include "harmonium/models/capsules/posing.h"

#include <ATen/ATen.h>

#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr std::int64_t first_distortion = 7;

// Shares of `rows` rows that are all one composite.
at::Tensor one_composite(const CapsuleAutoencoder& model, std::int64_t composite, std::int64_t rows) {
  const std::int64_t C = model.shape().composites;
  require(composite >= 0 && composite < C, "there is no composite {}: they are 0 … {}", composite, C - 1);
  at::Tensor shares = at::zeros({rows, C}, model.parameters()["templates"].options());
  shares.select(1, composite).fill_(1);
  return shares;
}

}  // namespace

std::vector<std::string> names_of_pose(const CapsuleAutoencoder& model) {
  std::vector<std::string> names = {"intensity", "t0", "t1", "s0", "s1", "shear", "rotation"};
  if (model.shape().poses == PoseForm::matrix) names = {"intensity", "a00", "a01", "b0", "a10", "a11", "b1"};
  for (std::int64_t d = 0; d < model.shape().distortions; ++d) names.push_back(format("distortion:{}", d));
  return names;
}

Scene swept(const CapsuleAutoencoder& model, const PosePrior& prior, std::int64_t composite, std::int64_t number,
            std::int64_t steps) {
  const c10::NoGradGuard no_gradients;
  constexpr double deviations = 2;
  const at::Tensor shares = one_composite(model, composite, steps);
  require(steps >= 1 && number >= 0 && number < model.numbers_of_composite(), "no sweep of number {} in {} steps",
          number, steps);
  at::Tensor pose = prior.means[composite].clone();
  pose.narrow(0, first_distortion, model.shape().distortions).zero_();
  pose = pose.expand({steps, pose.size(0)}).contiguous();
  // The covariance is L Lᵀ, so a variance is the square of a row of L.
  const double deviation = prior.factors[composite][number].square().sum().sqrt().item<double>();
  pose.select(1, number).add_(at::linspace(-deviations, deviations, steps, pose.options()) * deviation);
  return model.decode(shares, pose);
}

Scene scenes_around(const CapsuleAutoencoder& model, const PosePrior& prior, const at::Tensor& image, double spread,
                    const Key& key, std::int64_t count) {
  const c10::NoGradGuard no_gradients;
  require(image.dim() == 2 && image.size(0) == 1 && count >= 1 && spread >= 0,
          "{} pictures with spread {} around one picture", count, spread);
  const Scene seen = model.describe(image);
  const auto composite = seen.shares.argmax(1).item<std::int64_t>();
  const at::Tensor own = seen.proposals.select(1, composite);  // 1 × n
  const at::Tensor z = normal(key, {count, own.size(1)}, own.options());
  return model.decode(one_composite(model, composite, count), own + spread * z.mm(prior.factors[composite].t()));
}

Scene described_as(const CapsuleAutoencoder& model, const at::Tensor& images, std::int64_t composite) {
  const c10::NoGradGuard no_gradients;
  const at::Tensor shares = one_composite(model, composite, images.size(0));
  return model.decode(shares, model.describe(images).proposals.select(1, composite));
}

at::Tensor shared_out(const CapsuleAutoencoder& model, const Scene& scene) {
  const c10::NoGradGuard no_gradients;
  const at::Tensor a = model.draw_parts(scene), drawn = model.draw(scene).unsqueeze(1);
  const OutputForm& form = model.shape().output;
  constexpr double nothing = 1e-12;
  switch (form.model) {
    case OutputModel::semisoft:
      return drawn * at::softmax(form.sharpness * a, 1);
    case OutputModel::soft:
      return drawn * at::softmax(a, 1);
    case OutputModel::maximum:
      return drawn * at::one_hot(a.argmax(1), a.size(1)).permute({0, 2, 1}).to(a.scalar_type());
    default: {
      const at::Tensor size = a.abs() + nothing;
      return drawn * size / size.sum(1, /*keepdim=*/true);
    }
  }
}

}  // namespace harmonium
