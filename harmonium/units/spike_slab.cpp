#include "harmonium/units/spike_slab.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/gaussian.h"

namespace harmonium {

namespace {

const double log_of_two_pi = std::log(2 * std::numbers::pi);

// Log-odds of the spike.
at::Tensor spike_odds(const at::Tensor& field, const Unit::Parameters& parameters) {
  const at::Tensor precision = parameters[1].to(at::kDouble);
  return parameters[2].to(at::kDouble) + 0.5 * (log_of_two_pi - precision.log()) +
         0.5 * field.to(at::kDouble).square() / precision;
}

// Probability of the spike, and the slab's middle and variance.
struct Slab {
  at::Tensor on, middle, variance;
};

Slab slab_of(const at::Tensor& field, const Unit::Parameters& parameters) {
  const at::Tensor variance = parameters[1].to(at::kDouble).reciprocal();
  return {at::sigmoid(spike_odds(field, parameters)), field.to(at::kDouble) * variance, variance};
}

}  // namespace

std::string SpikeSlab::spec() const { return format("spike_slab:{}", width()); }

Unit::Parameters SpikeSlab::neutral_parameters(at::ScalarType type) const {
  // The spike is on half of the time.
  return {at::zeros({width()}, type), at::ones({width()}, type), at::full({width()}, -0.5 * log_of_two_pi, type)};
}

at::Tensor SpikeSlab::mean(const at::Tensor& field, const Parameters& parameters) const {
  const Slab slab = slab_of(field, parameters);
  return (slab.on * slab.middle).to(field.scalar_type());
}

at::Tensor SpikeSlab::sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const {
  const Slab slab = slab_of(field, parameters);
  const at::Tensor on = uniform(key.fold_in(0), field.sizes(), slab.on.options()).lt(slab.on);
  const at::Tensor value =
      slab.middle + normal(key.fold_in(1), field.sizes(), slab.on.options()) * slab.variance.sqrt();
  return (value * on).to(field.scalar_type());
}

at::Tensor SpikeSlab::mode(const at::Tensor& field, const Parameters& parameters) const {
  return field / parameters[1] * spike_odds(field, parameters).gt(0);
}

at::Tensor SpikeSlab::log_partition(const at::Tensor& field, const Parameters& parameters) const {
  return at::softplus(spike_odds(field, parameters)).sum(1);
}

at::Tensor SpikeSlab::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  const std::vector<at::Tensor> own = statistics(state);
  at::Tensor total = own[0].matmul(parameters[0]);
  for (std::size_t i = 1; i < own.size(); ++i) total = total + own[i].matmul(parameters[i]);
  return total.to(at::kDouble);
}

std::vector<at::Tensor> SpikeSlab::statistics(const at::Tensor& state) const {
  return {state, -0.5 * state * state, state.ne(0).to(state.scalar_type())};
}

std::vector<at::Tensor> SpikeSlab::expected_statistics(const at::Tensor& field, const Parameters& parameters) const {
  const Slab slab = slab_of(field, parameters);
  std::vector<at::Tensor> all = {slab.on * slab.middle, -0.5 * slab.on * (slab.middle.square() + slab.variance),
                                 slab.on};
  for (at::Tensor& one : all) one = one.to(field.scalar_type());
  return all;
}

at::Tensor SpikeSlab::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  const Slab slab = slab_of(field, parameters);
  return (slab.on * (slab.middle.square() + slab.variance)).to(field.scalar_type());
}

at::Tensor SpikeSlab::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                             const at::Tensor& weights) const {
  const auto [on, m, s] = slab_of(field, parameters);
  const at::Tensor first = on * m, second = on * (m.square() + s), third = on * (m.pow(3) + 3 * m * s);
  const at::Tensor fourth = on * (m.pow(4) + 6 * m.square() * s + 3 * s.square());
  const std::vector<at::Tensor> means = {first, -0.5 * second, on};
  const std::vector<std::vector<at::Tensor>> products = {
      {second, -0.5 * third, first}, {-0.5 * third, 0.25 * fourth, -0.5 * second}, {first, -0.5 * second, on}};
  std::vector<at::Tensor> rows;
  for (std::size_t a = 0; a < products.size(); ++a) {
    std::vector<at::Tensor> blocks;
    for (std::size_t b = 0; b < products.size(); ++b)
      blocks.push_back(at::diag(average_rows(products[a][b] - means[a] * means[b], weights)));
    rows.push_back(at::cat(blocks, 1));
  }
  return at::cat(rows, 0).to(field.scalar_type());
}

Unit::Parameters SpikeSlab::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const at::Tensor on = (moments[2].to(at::kDouble) * (1 - 2 * smoothing) + smoothing).clamp(1e-12, 1 - 1e-12);
  const at::Tensor middle = moments[0].to(at::kDouble) / on;
  const at::Tensor variance =
      (-2 * moments[1].to(at::kDouble) / on - middle.square()).clamp_min(std::max(smoothing, 1e-12));
  const at::Tensor spike = (on / (1 - on)).log() - 0.5 * (log_of_two_pi + variance.log() + middle.square() / variance);
  Parameters result = {middle / variance, variance.reciprocal(), spike};
  for (at::Tensor& one : result) one = one.to(moments[0].scalar_type());
  return result;
}

at::Tensor SpikeSlab::growth(const Parameters& parameters) const { return parameters[1].reciprocal(); }

void SpikeSlab::constrain_(Parameters& parameters) const { parameters[1].clamp_min_(smallest_precision); }

std::string SpikeSlab::complaint(const at::Tensor& state) const { return Gaussian(width()).complaint(state); }

}  // namespace harmonium
