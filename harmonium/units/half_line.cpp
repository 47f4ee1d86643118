#include "harmonium/units/half_line.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace harmonium {

namespace {

constexpr double far_tail = 50;  // where differences lose digits, continued fractions do not

// log erfcx(t); erfcx itself overflows at t ≈ −26.
at::Tensor log_erfcx(const at::Tensor& t) {
  const at::Tensor below = t.clamp_max(0);
  return at::where(t.gt(0), at::special_erfcx(t.clamp_min(0)).log(), below * below + at::special_erfc(below).log());
}

}  // namespace

HalfLine half_line(const at::Tensor& field, const at::Tensor& precision) {
  const at::Tensor f = field.to(at::kDouble), g = precision.to(at::kDouble);
  const at::Tensor t = -f * (2 * g).rsqrt(), log_tail = log_erfcx(t);
  HalfLine result;
  result.log_integral = log_tail + 0.5 * (std::numbers::pi / (2 * g)).log();
  // 1/(√π erfcx(t)) = t + ½/(t + 1/(t + (3/2)/(t + 2/(t + (5/2)/(t + …))))).
  const at::Tensor s = t.clamp_min(far_tail), inner = 1.5 / (s + 2 / (s + 2.5 / s));
  const at::Tensor excess =
      at::where(t.gt(far_tail), 0.5 / (s + 1 / (s + inner)), (-log_tail).exp() * std::numbers::inv_sqrtpi - t);
  const at::Tensor rest = at::where(t.gt(far_tail), 1 / (s * (s + inner) + 1), 1 - 2 * t * excess);  // γ E[h²]
  result.first = (2 / g).sqrt() * excess;
  result.second = rest / g;
  result.third = (2 * result.first + f * result.second) / g;
  result.fourth = (3 * result.second + f * result.third) / g;
  return result;
}

at::Tensor draw_half_line(const at::Tensor& chances, const at::Tensor& field, const at::Tensor& precision) {
  constexpr double deepest = -600, exponential = 1e5;
  const at::Tensor f = field.to(at::kDouble), deviation = precision.to(at::kDouble).rsqrt();
  const at::Tensor cut = -f * deviation;                                // in standard units
  const at::Tensor log_chance = at::log1p(-chances.to(at::kDouble));    // of a uniform in (0, 1]
  const at::Tensor log_tail = at::special_log_ndtr(-cut) + log_chance;  // P(z' > z) of the draw z
  const at::Tensor near = -at::special_ndtri(log_tail.clamp_min(deepest).exp());
  // Deeper than numbers reach: z² ≈ cut² − 2 log u, mended by Newton's method on the log of the tail.
  at::Tensor deep = (cut.square() - 2 * log_chance).sqrt();
  for (int step = 0; step < 3; ++step) {
    const at::Tensor hazard =
        std::sqrt(2 * std::numbers::inv_pi) / at::special_erfcx((deep * std::numbers::sqrt2 / 2).clamp_min(0));
    deep = deep + (at::special_log_ndtr(-deep) - log_tail) / hazard;
  }
  const at::Tensor z = at::where(log_tail.gt(deepest), near, deep);
  const at::Tensor beyond = at::where(cut.gt(exponential), -log_chance / cut, z - cut);
  return (beyond * deviation).clamp_min_(0);
}

}  // namespace harmonium
