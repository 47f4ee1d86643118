#include "harmonium/units/unit.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "harmonium/core/error.h"
#include "harmonium/kernels/binary_product.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/counts.h"
#include "harmonium/units/gaussian.h"
#include "harmonium/units/softmax.h"
#include "harmonium/units/twin.h"

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

at::Tensor Unit::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  return state.matmul(parameters[0]).to(at::kDouble);
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

at::Tensor average_rows(const at::Tensor& rows, const at::Tensor& weights) {
  return weights.defined() ? weights.to(rows.scalar_type()).matmul(rows) : rows.mean(0);
}

namespace {

std::int64_t parse_count(std::string_view text, const std::string& spec) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value > 0,
          "unit '{}': '{}' is not a positive number of units", spec, text);
  return value;
}

}  // namespace

std::shared_ptr<const Unit> make_unit(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string_view size =
      colon == std::string::npos ? std::string_view() : std::string_view(spec).substr(colon + 1);
  if (kind == "bernoulli") return std::make_shared<Bernoulli>(parse_count(size, spec));
  if (kind == "gaussian") return std::make_shared<Gaussian>(parse_count(size, spec));
  if (kind == "twin") return std::make_shared<Twin>(parse_count(size, spec));
  if (kind == "counts") return std::make_shared<Counts>(parse_count(size, spec));
  if (kind == "softmax") {
    const std::size_t times = size.find('x');
    require(times != std::string_view::npos,
            "unit '{}': softmax units are written softmax:GROUPSxSTATES, e.g. softmax:1x10", spec);
    return std::make_shared<Softmax>(parse_count(size.substr(0, times), spec),
                                     parse_count(size.substr(times + 1), spec));
  }
  fail("unknown unit type '{}' in '{}'; there are: bernoulli:N, softmax:GxK, gaussian:N, counts:K, twin:N", kind, spec);
}

}  // namespace harmonium
