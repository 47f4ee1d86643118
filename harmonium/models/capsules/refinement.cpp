#include "harmonium/models/capsules/refinement.h"

#include <ATen/ATen.h>

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// What one composite makes of some pictures.
class Explanation {
 public:
  Explanation(const CapsuleAutoencoder& model, const PosePrior& prior, std::int64_t composite, const at::Tensor& images)
      : model_(model),
        mean_(prior.means[composite]),
        factor_(prior.factors[composite]),
        images_(images),
        half_precision_(0.5 / prior.pixel_error.item<double>()),
        shares_(at::zeros({images.size(0), model.shape().composites}, images.options())) {
    shares_.select(1, composite).fill_(1);
  }

  // p as z, and back.
  [[nodiscard]] at::Tensor standardized(const at::Tensor& poses) const {
    return at::linalg_solve_triangular(factor_, (poses - mean_).t(), /*upper=*/false).t().contiguous();
  }
  [[nodiscard]] at::Tensor poses(const at::Tensor& z) const { return mean_ + z.mm(factor_.t()); }

  // e of every row, and where asked its gradient.
  [[nodiscard]] at::Tensor energy(const at::Tensor& z, at::Tensor* gradient = nullptr) const {
    const c10::AutoGradMode mode(gradient != nullptr);
    const at::Tensor leaf = gradient != nullptr ? z.detach().clone().requires_grad_() : z;
    const DrawingErrors errors = drawing_errors(model_.drawn(model_.decode(shares_, poses(leaf))), images_,
                                                model_.shape().canvas, model_.shape().output);
    if (gradient != nullptr) {
      (errors.sum * half_precision_ + 0.5 * leaf.square().sum()).backward();
      *gradient = leaf.grad();
    }
    return errors.of_rows.detach() * half_precision_ + 0.5 * z.square().sum(1).to(at::kDouble);
  }

 private:
  const CapsuleAutoencoder& model_;
  at::Tensor mean_, factor_, images_;
  double half_precision_;
  at::Tensor shares_;
};

struct Moved {
  at::Tensor z, energy;
};

// The best that is met by Adam from z.
Moved descend(const Explanation& explanation, const at::Tensor& from, const RefinementOptions& options) {
  constexpr double first = 0.9, second = 0.999, floor = 1e-8;
  at::Tensor z = from, mean = at::zeros_like(from), square = at::zeros_like(from), gradient;
  Moved best{.z = from, .energy = {}};
  for (std::int64_t step = 1; step <= options.steps + 1; ++step) {
    const at::Tensor energy = explanation.energy(z, step <= options.steps ? &gradient : nullptr);
    const at::Tensor better = best.energy.defined() ? energy < best.energy : energy.eq(energy);
    best.z = at::where(better.unsqueeze(1), z, best.z);
    best.energy = best.energy.defined() ? at::where(better, energy, best.energy) : energy;
    if (step > options.steps) break;
    const auto n = static_cast<double>(step);
    mean = first * mean + (1 - first) * gradient;
    square = second * square + (1 - second) * gradient.square();
    z = z - options.rate / (1 - std::pow(first, n)) * mean / ((square / (1 - std::pow(second, n))).sqrt() + floor);
  }
  return best;
}

}  // namespace

Scene refined(const CapsuleAutoencoder& model, const PosePrior& prior, const at::Tensor& images,
              const RefinementOptions& options) {
  const c10::NoGradGuard no_gradients;
  const std::int64_t C = model.shape().composites;
  require(C > 0, "capsules without composites have no proposals to refine");
  require(options.steps >= 0 && options.candidates >= 1 && options.rate > 0,
          "{} steps of rate {} for {} candidates refine nothing", options.steps, options.rate, options.candidates);
  require(prior.pixel_error.defined() && prior.pixel_error.item<double>() > 0,
          "these capsules do not know the error of their pixels in training, which refining needs: their file is "
          "older than it; train them again");
  const Scene seen = model.describe(images);
  const at::Tensor log_shares = at::log_softmax(seen.preferences.to(at::kDouble), 1);
  at::Tensor proposals = seen.proposals.clone(), evidence = at::empty_like(log_shares);
  for (std::int64_t i = 0; i < C; ++i) {
    const Explanation explanation(model, prior, i, images);
    const at::Tensor z = explanation.standardized(proposals.select(1, i));
    evidence.select(1, i).copy_(log_shares.select(1, i) - explanation.energy(z));
  }
  const at::Tensor candidates = std::get<1>(evidence.topk(std::min(options.candidates, C), 1));
  for (std::int64_t i = 0; i < C && options.steps > 0; ++i) {
    const at::Tensor rows = candidates.eq(i).any(1).nonzero().squeeze(1);
    if (rows.size(0) == 0) continue;
    const Explanation explanation(model, prior, i, images.index_select(0, rows));
    const Moved moved =
        descend(explanation, explanation.standardized(proposals.select(1, i).index_select(0, rows)), options);
    proposals.select(1, i).index_copy_(0, rows, explanation.poses(moved.z));
    evidence.select(1, i).index_copy_(0, rows, log_shares.select(1, i).index_select(0, rows) - moved.energy);
  }
  const at::Tensor chosen = evidence.argmax(1),
                   index = chosen.view({-1, 1, 1}).expand({images.size(0), 1, proposals.size(2)});
  Scene scene = model.decode(at::one_hot(chosen, C).to(images.scalar_type()), proposals.gather(1, index).squeeze(1));
  scene.preferences = evidence;
  scene.proposals = proposals;
  return scene;
}

}  // namespace harmonium
