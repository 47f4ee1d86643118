#include "harmonium/units/drelu.h"

#include <ATen/ATen.h>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/gaussian.h"
#include "harmonium/units/half_line.h"
#include "harmonium/units/match_moments.h"

namespace harmonium {

namespace {

// Both sides of zero, |x| on each, and the probability of the right one.
struct Sides {
  HalfLine right, left;
  at::Tensor log_integral, on_right;
};

Sides sides_of(const at::Tensor& field, const Unit::Parameters& parameters) {
  const at::Tensor x = field.to(at::kDouble), threshold = parameters[1].to(at::kDouble);
  Sides both{.right = half_line(x - threshold, parameters[2]),
             .left = half_line(-x - threshold, parameters[3]),
             .log_integral = {},
             .on_right = {}};
  both.log_integral = at::logaddexp(both.right.log_integral, both.left.log_integral);
  both.on_right = at::sigmoid(both.right.log_integral - both.left.log_integral);
  return both;
}

// Σ over both sides of sign·moment: E of an odd or an even power of x.
at::Tensor mixed(const Sides& both, const at::Tensor& right, const at::Tensor& left, double sign) {
  return both.on_right * right + sign * (1 - both.on_right) * left;
}

}  // namespace

std::string DRelu::spec() const { return format("drelu:{}", width()); }

Unit::Parameters DRelu::neutral_parameters(at::ScalarType type) const {
  return {at::zeros({width()}, type), at::zeros({width()}, type), at::ones({width()}, type), at::ones({width()}, type)};
}

at::Tensor DRelu::mean(const at::Tensor& field, const Parameters& parameters) const {
  const Sides both = sides_of(field, parameters);
  return mixed(both, both.right.first, both.left.first, -1).to(field.scalar_type());
}

at::Tensor DRelu::sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const {
  const at::TensorOptions options = field.options().dtype(at::kDouble);
  const at::Tensor x = field.to(at::kDouble), threshold = parameters[1].to(at::kDouble);
  const at::Tensor right = uniform(key.fold_in(0), field.sizes(), options).lt(sides_of(field, parameters).on_right);
  const at::Tensor size =
      draw_half_line(uniform(key.fold_in(1), field.sizes(), options), at::where(right, x, -x) - threshold,
                     at::where(right, parameters[2], parameters[3]));
  return at::where(right, size, -size).to(field.scalar_type());
}

at::Tensor DRelu::mode(const at::Tensor& field, const Parameters& parameters) const {
  // The highest point of either side: half of field²/γ above zero where it is inside.
  const at::Tensor right = (field - parameters[1]).clamp_min(0), left = (-field - parameters[1]).clamp_min(0);
  const at::Tensor to_right = (right.square() / parameters[2]).ge(left.square() / parameters[3]);
  return at::where(to_right, right / parameters[2], -left / parameters[3]);
}

at::Tensor DRelu::log_partition(const at::Tensor& field, const Parameters& parameters) const {
  return sides_of(field, parameters).log_integral.sum(1);
}

at::Tensor DRelu::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  const std::vector<at::Tensor> own = statistics(state);
  at::Tensor total = own[0].matmul(parameters[0]);
  for (std::size_t i = 1; i < own.size(); ++i) total = total + own[i].matmul(parameters[i]);
  return total.to(at::kDouble);
}

std::vector<at::Tensor> DRelu::statistics(const at::Tensor& state) const {
  return {state, -state.abs(), -0.5 * state.clamp_min(0).square(), -0.5 * state.clamp_max(0).square()};
}

std::vector<at::Tensor> DRelu::expected_statistics(const at::Tensor& field, const Parameters& parameters) const {
  const Sides both = sides_of(field, parameters);
  const at::Tensor on_left = 1 - both.on_right;
  std::vector<at::Tensor> all = {mixed(both, both.right.first, both.left.first, -1),
                                 -mixed(both, both.right.first, both.left.first, 1),
                                 -0.5 * both.on_right * both.right.second, -0.5 * on_left * both.left.second};
  for (at::Tensor& one : all) one = one.to(field.scalar_type());
  return all;
}

at::Tensor DRelu::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  const Sides both = sides_of(field, parameters);
  return mixed(both, both.right.second, both.left.second, 1).to(field.scalar_type());
}

at::Tensor DRelu::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                         const at::Tensor& weights) const {
  // Of a unit the statistics are (x, −|x|, −½x²[x > 0], −½x²[x < 0]); on either side products are powers of |x|.
  const Sides both = sides_of(field, parameters);
  const at::Tensor p = both.on_right, q = 1 - p;
  const std::vector<at::Tensor> means = {mixed(both, both.right.first, both.left.first, -1),
                                         -mixed(both, both.right.first, both.left.first, 1),
                                         -0.5 * p * both.right.second, -0.5 * q * both.left.second};
  const at::Tensor none = at::zeros_like(p);
  const at::Tensor square = mixed(both, both.right.second, both.left.second, 1);
  const at::Tensor signed_square = -mixed(both, both.right.second, both.left.second, -1);  // E[x·(−|x|)]
  const at::Tensor right_cube = 0.5 * p * both.right.third, left_cube = 0.5 * q * both.left.third;
  const at::Tensor right_fourth = 0.25 * p * both.right.fourth, left_fourth = 0.25 * q * both.left.fourth;
  const std::vector<std::vector<at::Tensor>> products = {{square, signed_square, -right_cube, left_cube},
                                                         {signed_square, square, right_cube, left_cube},
                                                         {-right_cube, right_cube, right_fourth, none},
                                                         {left_cube, left_cube, none, left_fourth}};
  std::vector<at::Tensor> rows;
  for (std::size_t a = 0; a < products.size(); ++a) {
    std::vector<at::Tensor> blocks;
    for (std::size_t b = 0; b < products.size(); ++b)
      blocks.push_back(at::diag(average_rows(products[a][b] - means[a] * means[b], weights)));
    rows.push_back(at::cat(blocks, 1));
  }
  return at::cat(rows, 0).to(field.scalar_type());
}

Unit::Parameters DRelu::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  return match_moments(*this, moments, smoothing, Columns::independent);
}

at::Tensor DRelu::growth(const Parameters& parameters) const {
  return at::minimum(parameters[2], parameters[3]).reciprocal();
}

void DRelu::constrain_(Parameters& parameters) const {
  parameters[2].clamp_min_(smallest_precision);
  parameters[3].clamp_min_(smallest_precision);
}

std::string DRelu::complaint(const at::Tensor& state) const { return Gaussian(width()).complaint(state); }

}  // namespace harmonium
