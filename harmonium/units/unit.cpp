#include "harmonium/units/unit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cassert>

#include "harmonium/core/error.h"
#include "harmonium/kernels/binary_product.h"

namespace harmonium {

Unit::Parameters Unit::neutral_parameters(at::ScalarType type) const { return {at::zeros({width_}, type)}; }

at::Tensor Unit::ProductField::total() const { return add_product(start, neighbour, weights); }

CodedTable Unit::sample(const Key& key, const ProductField& field, const Parameters& parameters,
                        at::Tensor* total) const {
  const at::Tensor sum = field.total();
  if (total != nullptr) *total = sum;
  return sample(key, sum, parameters);
}

at::Tensor Unit::sample(const Key& key, const AnnealedField& field) const {
  return sample(key, field.total(), field.parameters);
}

at::Tensor Unit::anneal(const Key& key, const AnnealedField& before, const AnnealedField& after,
                        at::Tensor& log_weights) const {
  const at::Tensor field = after.total();
  log_weights.add_(log_partition(field, after.parameters)).sub_(log_partition(before.total(), before.parameters));
  return sample(key, field, after.parameters);
}

at::Tensor Unit::pair_log_partitions(const at::Tensor& first, const at::Tensor& second,
                                     const Parameters& parameters) const {
  constexpr std::int64_t elements_at_once = 1 << 22;
  const std::int64_t rows = first.size(0), columns = second.size(0);
  const std::int64_t at_once = std::clamp<std::int64_t>(elements_at_once / std::max<std::int64_t>(1, second.numel()), 1,
                                                        std::max<std::int64_t>(1, rows));
  at::Tensor result = at::empty({rows, columns}, first.options().dtype(at::kDouble));
  for (std::int64_t begin = 0; begin < rows; begin += at_once) {
    const std::int64_t count = std::min(at_once, rows - begin);
    const at::Tensor field = (first.narrow(0, begin, count).unsqueeze(1) + second.unsqueeze(0)).reshape({-1, width_});
    result.narrow(0, begin, count).copy_(log_partition(field, parameters).reshape({count, columns}));
  }
  return result;
}

at::Tensor Unit::entropy(const at::Tensor& field, const Parameters& parameters) const {
  // −E[log p] = log-partition − E[θ·t], with the field in place of the bias.
  at::Tensor total = log_partition(field, parameters);
  const std::vector<at::Tensor> expected = expected_statistics(field, parameters);
  for (std::size_t i = 0; i < expected.size(); ++i)
    total = total - ((i == 0 ? field : parameters[i]) * expected[i]).sum(1, /*keepdim=*/false, at::kDouble);
  return total;
}

at::Tensor Unit::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  return state.matmul(parameters[0]).to(at::kDouble);
}

at::Tensor Unit::log_factor(const at::Tensor& state, const Parameters& parameters) const {
  const at::Tensor potential = log_potential(state, parameters), measure = log_measure(state);
  return measure.defined() ? potential + measure : potential;
}

at::Tensor Unit::part_values(at::ScalarType type) const {
  return states(at::arange(digit().values, at::kLong), type).narrow(1, 0, digit().columns);
}

std::vector<at::Tensor> Unit::statistics(const at::Tensor& state) const { return {state}; }

std::vector<at::Tensor> Unit::expected_statistics(const at::Tensor& field, const Parameters& parameters) const {
  return {mean(field, parameters)};
}

at::Tensor Unit::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  assert(indicator());  // other units answer for themselves
  return mean(field, parameters);
}

std::vector<at::Tensor> Unit::moments(const at::Tensor& state, const at::Tensor& weights) const {
  std::vector<at::Tensor> all = statistics(state);
  for (at::Tensor& one : all) one = average_rows(one, weights);
  return all;
}

std::vector<at::Tensor> Unit::expected_moments(const at::Tensor& field, const Parameters& parameters,
                                               const at::Tensor& weights) const {
  std::vector<at::Tensor> all = expected_statistics(field, parameters);
  for (at::Tensor& one : all) one = average_rows(one, weights);
  return all;
}

void Unit::constrain_(Parameters&) const {}

at::Tensor Unit::states(const at::Tensor&, at::ScalarType) const {
  fail("units of type {} have infinitely many states and cannot be enumerated", spec());
}

std::optional<Unit::Grid> Unit::grid(const at::Tensor&, const at::Tensor&, const Parameters&) const {
  return std::nullopt;
}

at::Tensor average_rows(const at::Tensor& rows, const at::Tensor& weights) {
  return weights.defined() ? weights.to(rows.scalar_type()).matmul(rows) : rows.mean(0);
}

}  // namespace harmonium
