#include "harmonium/units/relu.h"

#include <ATen/ATen.h>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/gaussian.h"
#include "harmonium/units/half_line.h"
#include "harmonium/units/match_moments.h"

namespace harmonium {

std::string Relu::spec() const { return format("relu:{}", width()); }

Unit::Parameters Relu::neutral_parameters(at::ScalarType type) const {
  return Gaussian(width()).neutral_parameters(type);
}

at::Tensor Relu::mean(const at::Tensor& field, const Parameters& parameters) const {
  return half_line(field, parameters[1]).first.to(field.scalar_type());
}

at::Tensor Relu::sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const {
  const at::Tensor chances = uniform(key, field.sizes(), field.options().dtype(at::kDouble));
  return draw_half_line(chances, field, parameters[1]).to(field.scalar_type());
}

at::Tensor Relu::mode(const at::Tensor& field, const Parameters& parameters) const {
  return (field / parameters[1]).clamp_min_(0);
}

at::Tensor Relu::log_partition(const at::Tensor& field, const Parameters& parameters) const {
  return half_line(field, parameters[1]).log_integral.sum(1);
}

at::Tensor Relu::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  return Gaussian(width()).log_potential(state, parameters);
}

std::vector<at::Tensor> Relu::statistics(const at::Tensor& state) const { return {state, -0.5 * state * state}; }

std::vector<at::Tensor> Relu::expected_statistics(const at::Tensor& field, const Parameters& parameters) const {
  const HalfLine h = half_line(field, parameters[1]);
  return {h.first.to(field.scalar_type()), (-0.5 * h.second).to(field.scalar_type())};
}

at::Tensor Relu::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  return half_line(field, parameters[1]).second.to(field.scalar_type());
}

at::Tensor Relu::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                        const at::Tensor& weights) const {
  const HalfLine h = half_line(field, parameters[1]);
  const auto across = [&](const at::Tensor& rows) { return at::diag(average_rows(rows, weights)); };
  const at::Tensor location = across((h.second - h.first.square()).clamp_min(0));
  const at::Tensor cross = across(-0.5 * (h.third - h.first * h.second));
  const at::Tensor scale = across((0.25 * (h.fourth - h.second.square())).clamp_min(0));
  return at::cat({at::cat({location, cross}, 1), at::cat({cross, scale}, 1)}, 0).to(field.scalar_type());
}

Unit::Parameters Relu::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  return match_moments(*this, moments, smoothing, Columns::independent);
}

at::Tensor Relu::growth(const Parameters& parameters) const { return parameters[1].reciprocal(); }

void Relu::constrain_(Parameters& parameters) const { Gaussian(width()).constrain_(parameters); }

std::string Relu::complaint(const at::Tensor& state) const {
  const at::Tensor bad = at::logical_not(state.ge(0).logical_and(state.isfinite()));
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}; rectified units need values of 0 or more", row, column,
                state[row][column].item<double>());
}

}  // namespace harmonium
