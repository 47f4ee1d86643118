#include "harmonium/likelihood/bennett.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/bootstrap.h"

namespace harmonium {

namespace {

// Roots for rows of weights, by bisection.
at::Tensor roots(const at::Tensor& forward, const at::Tensor& reverse) {
  const double shift = std::log(static_cast<double>(forward.size(1)) / static_cast<double>(reverse.size(1)));
  // Fifty nats beyond all weights one side is as good as nothing and the other as good as all of its terms.
  at::Tensor low = at::minimum(forward.amin(1), reverse.amin(1)) - std::abs(shift) - 50,
             high = at::maximum(forward.amax(1), reverse.amax(1)) + std::abs(shift) + 50;
  constexpr int halvings = 60;  // 10⁻¹⁸ of the interval
  for (int i = 0; i < halvings; ++i) {
    const at::Tensor middle = (low + high) / 2, place = (middle + shift).unsqueeze(1);
    const at::Tensor excess = at::sigmoid(forward - place).sum(1) - at::sigmoid(place - reverse).sum(1);
    low = at::where(excess > 0, middle, low);
    high = at::where(excess > 0, high, middle);
  }
  return (low + high) / 2;
}

}  // namespace

double bennett_log_z(const at::Tensor& forward, const at::Tensor& reverse) {
  require(forward.dim() == 1 && reverse.dim() == 1 && forward.size(0) > 0 && reverse.size(0) > 0,
          "Bennett's acceptance ratio needs at least one walk each way");
  return roots(forward.to(at::kDouble).unsqueeze(0), reverse.to(at::kDouble).unsqueeze(0)).item<double>();
}

Estimate bennett(const AisResult& forward, const AisResult& reverse, std::uint64_t seed) {
  const at::Tensor up = forward.log_weights.to(at::kDouble), down = reverse.log_weights.to(at::kDouble);
  const Interval interval = bootstrap_pair(up, down, roots, Key(seed).fold_in(0xBA2));
  return {
      .value = bennett_log_z(up, down),
      .low = interval.low,
      .high = interval.high,
      .kind = EstimateKind::estimate,
      .method = "bennett, " + std::to_string(up.size(0)) + " walks up and " + std::to_string(down.size(0)) + " down",
      .chains = up.size(0) + down.size(0),
      .betas = forward.log_z.betas};
}

}  // namespace harmonium
