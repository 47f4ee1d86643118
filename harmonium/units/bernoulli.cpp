#include "harmonium/units/bernoulli.h"

#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/kernels/anneal_logistic.h"
#include "harmonium/kernels/binary_product.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/pair_sums.h"

namespace harmonium {

std::string Bernoulli::spec() const { return format("bernoulli:{}", width()); }

at::Tensor Bernoulli::mean(const at::Tensor& field, const Parameters&) const { return logistic(field); }

at::Tensor Bernoulli::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  return sample_logistic(key, field);
}

at::Tensor Bernoulli::sample(const Key& key, const AnnealedField& field) const {
  return sample_logistic(key, {field.input, field.parameters[0], field.scale});
}

CodedTable Bernoulli::sample(const Key& key, const ProductField& field, const Parameters&, at::Tensor* total) const {
  return draw_from_product(key, field.start, field.neighbour, field.weights, total);
}

at::Tensor Bernoulli::anneal(const Key& key, const AnnealedField& before, const AnnealedField& after,
                             at::Tensor& log_weights) const {
  return anneal_logistic(key, {before.input, before.parameters[0], before.scale},
                         {after.input, after.parameters[0], after.scale}, log_weights);
}

at::Tensor Bernoulli::mode(const at::Tensor& field, const Parameters&) const {
  return field.gt(0).to(field.scalar_type());
}

at::Tensor Bernoulli::log_partition(const at::Tensor& field, const Parameters&) const {
  return softplus_row_sums(field);
}

at::Tensor Bernoulli::pair_log_partitions(const at::Tensor& first, const at::Tensor& second,
                                          const Parameters& parameters) const {
  return pair_sums_in_range(first, second) ? softplus_pair_sums(first, second)
                                           : Unit::pair_log_partitions(first, second, parameters);
}

at::Tensor Bernoulli::entropy(const at::Tensor& field, const Parameters&) const {
  // H = log(1 + e^f) − f σ(f), summed over units.
  return softplus_row_sums(field) - (field * logistic(field)).sum(1, /*keepdim=*/false, at::kDouble);
}

at::Tensor Bernoulli::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                             const at::Tensor& weights) const {
  const at::Tensor p = mean(field, parameters);
  return at::diag(average_rows(p - p * p, weights));
}

Unit::Parameters Bernoulli::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const at::Tensor p = moments[0].to(at::kDouble) * (1 - 2 * smoothing) + smoothing;
  return {at::log(p / (1 - p)).to(moments[0].scalar_type())};
}

std::optional<double> Bernoulli::state_count() const { return std::exp2(static_cast<double>(width())); }

at::Tensor Bernoulli::states(const at::Tensor& numbers, at::ScalarType type) const {
  const at::Tensor bit = at::arange(width(), numbers.options());
  return at::bitwise_and(at::__rshift__(numbers.unsqueeze(1), bit.unsqueeze(0)), 1).to(type);
}

std::string Bernoulli::complaint(const at::Tensor& state) const {
  const at::Tensor bad = at::logical_not(state.ge(0).logical_and(state.le(1)));  // so that NaN is bad
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}; binary units need values in [0, 1]", row, column,
                state[row][column].item<double>());
}

}  // namespace harmonium
