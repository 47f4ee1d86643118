#include "harmonium/units/spike_slab.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <numbers>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/gaussian.h"

namespace harmonium {

namespace {

const double log_of_two_pi = std::log(2 * std::numbers::pi);

}  // namespace

std::string SpikeSlab::spec() const {
  return slabs_ == 1 ? format("spike_slab:{}", spikes_) : format("spike_slab:{}x{}", spikes_, slabs_);
}

at::Tensor SpikeSlab::in_all_columns(const at::Tensor& of_groups) const {
  return slabs_ == 1 ? of_groups : of_groups.repeat_interleave(slabs_, 1);
}

at::Tensor SpikeSlab::in_first_columns(const at::Tensor& of_groups) const {
  if (slabs_ == 1) return of_groups;
  const at::Tensor columns = at::zeros({of_groups.size(0), width()}, of_groups.options());
  columns.view({-1, spikes_, slabs_}).select(2, 0).copy_(of_groups);
  return columns;
}

at::Tensor SpikeSlab::of_first_columns(const at::Tensor& columns) const {
  return slabs_ == 1 ? columns : columns.reshape({-1, spikes_, slabs_}).select(2, 0);
}

at::Tensor SpikeSlab::spike_odds(const at::Tensor& field, const Parameters& parameters) const {
  // What does not depend on the field is summed before the rows are touched: of two passes one multiplies by the field.
  const at::ScalarType type = field.scalar_type();
  const at::Tensor precision = parameters[1].to(at::kDouble);
  const at::Tensor spike = in_first_columns(of_first_columns(parameters[2].to(at::kDouble).unsqueeze(0)));
  const at::Tensor at_zero = (spike + 0.5 * (log_of_two_pi - precision.log())).to(type);
  const at::Tensor odds = at::addcmul(at_zero, field, field * (0.5 / precision).to(type));
  return slabs_ == 1 ? odds : odds.view({-1, spikes_, slabs_}).sum(2);
}

// In the precision of the field: float32 in training, where chains are uncertain by far more.
SpikeSlab::Slabs SpikeSlab::slabs_of(const at::Tensor& field, const Parameters& parameters) const {
  const at::Tensor variance = parameters[1].to(field.scalar_type()).reciprocal();
  return {spike_odds(field, parameters).sigmoid_(), field * variance, variance};
}

Unit::Parameters SpikeSlab::neutral_parameters(at::ScalarType type) const {
  // The spike is on half of the time.
  const at::Tensor spike = at::full({1, spikes_}, -0.5 * log_of_two_pi * static_cast<double>(slabs_), type);
  return {at::zeros({width()}, type), at::ones({width()}, type), in_first_columns(spike).view({width()})};
}

at::Tensor SpikeSlab::mean(const at::Tensor& field, const Parameters& parameters) const {
  const Slabs slabs = slabs_of(field, parameters);
  return (in_all_columns(slabs.on) * slabs.middle).to(field.scalar_type());
}

at::Tensor SpikeSlab::sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const {
  const Slabs slabs = slabs_of(field, parameters);
  const at::Tensor on = uniform(key.fold_in(0), slabs.on.sizes(), field.options()).lt_(slabs.on);
  at::Tensor value = normal(key.fold_in(1), field.sizes(), field.options());
  value.mul_(slabs.variance.sqrt()).add_(slabs.middle);
  return value.mul_(in_all_columns(on));
}

at::Tensor SpikeSlab::mode(const at::Tensor& field, const Parameters& parameters) const {
  return field / parameters[1] * in_all_columns(spike_odds(field, parameters).gt(0));
}

at::Tensor SpikeSlab::log_partition(const at::Tensor& field, const Parameters& parameters) const {
  return at::softplus(spike_odds(field.to(at::kDouble), parameters)).sum(1);
}

at::Tensor SpikeSlab::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  const std::vector<at::Tensor> own = statistics(state);
  at::Tensor total = own[0].matmul(parameters[0]);
  for (std::size_t i = 1; i < own.size(); ++i) total = total + own[i].matmul(parameters[i]);
  return total.to(at::kDouble);
}

std::vector<at::Tensor> SpikeSlab::statistics(const at::Tensor& state) const {
  const at::Tensor on = state.ne(0).to(state.scalar_type());
  return {state, -0.5 * state * state, slabs_ == 1 ? on : in_first_columns(on.reshape({-1, spikes_, slabs_}).amax(2))};
}

std::vector<at::Tensor> SpikeSlab::expected_statistics(const at::Tensor& field, const Parameters& parameters) const {
  const Slabs slabs = slabs_of(field, parameters);
  const at::Tensor on = in_all_columns(slabs.on), mean = on * slabs.middle;
  // E x² = p (m² + s) = (p m) m + p s.
  return {mean, at::addcmul(on * slabs.variance, mean, slabs.middle).mul_(-0.5), in_first_columns(slabs.on)};
}

at::Tensor SpikeSlab::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  const Slabs slabs = slabs_of(field, parameters);
  return (in_all_columns(slabs.on) * (slabs.middle.square() + slabs.variance)).to(field.scalar_type());
}

at::Tensor SpikeSlab::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                             const at::Tensor& weights) const {
  // With τ the statistics of a group whose spike is on, of mean μ and independent between columns:
  // Cov = p Cov(τ) + p(1 − p) μμᵀ. Of N(m, s): Var x = s, Cov(x, −½x²) = −ms, Var(−½x²) = m²s + ½s².
  const auto [p, m, s] = slabs_of(field.to(at::kDouble), parameters);
  const at::Tensor on = in_all_columns(p), none = at::zeros_like(m), shared = (p * (1 - p)).unsqueeze(2).unsqueeze(3);
  const at::Tensor cross = -m * s;
  const std::array<std::array<at::Tensor, 3>, 3> within = {
      {{s + none, cross, none}, {cross, m.square() * s + 0.5 * s.square(), none}, {none, none, none}}};
  const std::array<at::Tensor, 3> mean = {m, -0.5 * (m.square() + s), in_first_columns(at::ones_like(p))};
  const auto grouped = [&](const at::Tensor& columns) { return columns.reshape({-1, spikes_, slabs_}); };
  std::vector<at::Tensor> rows;
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<at::Tensor> blocks;
    for (std::size_t b = 0; b < 3; ++b) {
      const at::Tensor together = shared * grouped(mean[a]).unsqueeze(3) * grouped(mean[b]).unsqueeze(2);
      const at::Tensor of_groups = average_rows(together.reshape({p.size(0), -1}), weights);
      const at::Tensor block = at::zeros({spikes_, slabs_, spikes_, slabs_}, p.options());
      block.diagonal(0, 0, 2).copy_(of_groups.view({spikes_, slabs_, slabs_}).permute({1, 2, 0}));
      blocks.push_back(block.view({width(), width()}) + at::diag(average_rows(on * within[a][b], weights)));
    }
    rows.push_back(at::cat(blocks, 1));
  }
  return at::cat(rows, 0).to(field.scalar_type());
}

Unit::Parameters SpikeSlab::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const at::Tensor share = of_first_columns(moments[2].to(at::kDouble).unsqueeze(0));
  const at::Tensor p = (share * (1 - 2 * smoothing) + smoothing).clamp(1e-12, 1 - 1e-12);
  const at::Tensor on = in_all_columns(p).squeeze(0), middle = moments[0].to(at::kDouble) / on;
  const at::Tensor variance =
      (-2 * moments[1].to(at::kDouble) / on - middle.square()).clamp_min(std::max(smoothing, 1e-12));
  const at::Tensor slabs = 0.5 * (log_of_two_pi + variance.log() + middle.square() / variance);
  const at::Tensor spike = (p / (1 - p)).log() - slabs.view({1, spikes_, slabs_}).sum(2);
  Parameters result = {middle / variance, variance.reciprocal(), in_first_columns(spike).view({width()})};
  for (at::Tensor& one : result) one = one.to(moments[0].scalar_type());
  return result;
}

at::Tensor SpikeSlab::growth(const Parameters& parameters) const { return parameters[1].reciprocal(); }

void SpikeSlab::constrain_(Parameters& parameters) const { parameters[1].clamp_min_(smallest_precision); }

std::string SpikeSlab::complaint(const at::Tensor& state) const { return Gaussian(width()).complaint(state); }

}  // namespace harmonium
