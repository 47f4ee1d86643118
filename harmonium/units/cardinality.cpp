#include "harmonium/units/cardinality.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/kernels/budget_walk.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/match_moments.h"

namespace harmonium {

namespace {

constexpr std::int64_t table_elements = 1 << 22;  // of a table over some rows: 32 MB
constexpr std::int64_t most_values = std::int64_t{1} << 62;

// S_j(r) before unit j, from that after it (rows × (k + 1)).
at::Tensor with_unit(const at::Tensor& after, const at::Tensor& field) {
  const std::int64_t most = after.size(1) - 1;
  at::Tensor before = after.clone();
  before.narrow(1, 1, most)
      .copy_(at::logaddexp(after.narrow(1, 1, most), after.narrow(1, 0, most) + field.unsqueeze(1)));
  return before;
}

// All tables of some rows: S_1 … S_{N+1}.
std::vector<at::Tensor> budget_tables(const at::Tensor& field, std::int64_t most) {
  const std::int64_t width = field.size(1);
  std::vector<at::Tensor> tables(static_cast<std::size_t>(width) + 1);
  tables.back() = at::zeros({field.size(0), most + 1}, field.options());
  for (std::int64_t j = width - 1; j >= 0; --j) {
    const auto place = static_cast<std::size_t>(j);
    tables[place] = with_unit(tables[place + 1], field.select(1, j));
  }
  return tables;
}

// P_j(r) for r = 1 … k, rows × k.
at::Tensor chance_on(const std::vector<at::Tensor>& tables, const at::Tensor& field, std::int64_t unit) {
  const auto place = static_cast<std::size_t>(unit);
  const std::int64_t most = tables[place].size(1) - 1;
  return (field.select(1, unit).unsqueeze(1) + tables[place + 1].narrow(1, 0, most) - tables[place].narrow(1, 1, most))
      .exp();
}

// Where units that are on carry the distribution of the budget r (last dimension), in place.
void spend_(at::Tensor budget, const at::Tensor& on) {
  const std::int64_t most = on.size(-1);
  budget.narrow(-1, 1, most).sub_(on);
  budget.narrow(-1, 0, most).add_(on);
}

at::Tensor full_budget(std::int64_t rows, std::int64_t most, const at::TensorOptions& options) {
  at::Tensor budget = at::zeros({rows, most + 1}, options);
  budget.select(1, most).fill_(1);
  return budget;
}

// Calls visit(first, rows of the field in float64) for pieces small enough for their tables.
template <class Visit>
void for_pieces(const at::Tensor& field, std::int64_t elements_of_a_row, Visit visit) {
  const std::int64_t rows = field.size(0);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(table_elements / elements_of_a_row, 1, std::max<std::int64_t>(1, rows));
  for (std::int64_t first = 0; first < rows; first += at_once)
    visit(first, field.narrow(0, first, std::min(at_once, rows - first)).to(at::kDouble));
}

}  // namespace

std::string Cardinality::spec() const { return format("cardinality:{}<={}", width(), most_); }

at::Tensor Cardinality::log_partition(const at::Tensor& field, const Parameters&) const {
  const at::Tensor x = field.to(at::kDouble);
  if (budget_walk_serves(x)) return budget_log_partition(x, most_);
  at::Tensor table = at::zeros({x.size(0), most_ + 1}, x.options());
  for (std::int64_t j = width() - 1; j >= 0; --j) table = with_unit(table, x.select(1, j));
  return table.select(1, most_).clone();
}

at::Tensor Cardinality::mean(const at::Tensor& field, const Parameters&) const {
  if (const at::Tensor x = field.to(at::kDouble); budget_walk_serves(x))
    return budget_means(x, most_).to(field.scalar_type());
  at::Tensor result = at::empty(field.sizes(), field.options());
  for_pieces(field, (width() + 1) * (most_ + 1), [&](std::int64_t first, const at::Tensor& x) {
    const std::vector<at::Tensor> tables = budget_tables(x, most_);
    const at::Tensor budget = full_budget(x.size(0), most_, x.options());
    for (std::int64_t j = 0; j < width(); ++j) {
      const at::Tensor on = budget.narrow(1, 1, most_) * chance_on(tables, x, j);
      result.narrow(0, first, x.size(0)).select(1, j).copy_(on.sum(1));
      spend_(budget, on);
    }
  });
  return result;
}

at::Tensor Cardinality::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  const at::Tensor chances = uniform(key, field.sizes(), field.options().dtype(at::kDouble));
  if (const at::Tensor x = field.to(at::kDouble); budget_walk_serves(x))
    return budget_draws(x, most_, chances).to(field.scalar_type());
  at::Tensor result = at::empty(field.sizes(), field.options());
  for_pieces(field, (width() + 1) * (most_ + 1), [&](std::int64_t first, const at::Tensor& x) {
    const std::vector<at::Tensor> tables = budget_tables(x, most_);
    at::Tensor left = at::full({x.size(0), 1}, most_, x.options().dtype(at::kLong));
    for (std::int64_t j = 0; j < width(); ++j) {
      const at::Tensor chance = chance_on(tables, x, j).gather(1, (left - 1).clamp_min(0)).mul_(left.gt(0));
      const at::Tensor on = chances.narrow(0, first, x.size(0)).narrow(1, j, 1).lt(chance);
      result.narrow(0, first, x.size(0)).narrow(1, j, 1).copy_(on);
      left = left - on.to(at::kLong);
    }
  });
  return result;
}

at::Tensor Cardinality::mode(const at::Tensor& field, const Parameters&) const {
  // The k largest, those of them that are above zero.
  const auto [values, places] = field.topk(most_, 1);
  return at::zeros_like(field).scatter_(1, places, values.gt(0).to(field.scalar_type()));
}

at::Tensor Cardinality::conditional_covariance(const at::Tensor& field, const Parameters&,
                                               const at::Tensor& weights) const {
  // E[x_i x_j], i before j: what unit i leaves when it is on, carried along to unit j.
  const at::TensorOptions options = field.options().dtype(at::kDouble);
  const std::int64_t all = field.size(0);
  const at::Tensor share =
      weights.defined() ? weights.to(options) : at::full({all}, 1.0 / static_cast<double>(all), options);
  at::Tensor later = at::zeros({width(), width()}, options), square = later.clone(),
             means = at::zeros({width()}, options);
  for_pieces(field, width() * (most_ + 1), [&](std::int64_t first, const at::Tensor& x) {
    const std::int64_t rows = x.size(0);
    const std::vector<at::Tensor> tables = budget_tables(x, most_);
    const at::Tensor weight = share.narrow(0, first, rows), budget = full_budget(rows, most_, x.options());
    const at::Tensor after = at::zeros({rows, width(), most_ + 1}, x.options());
    std::vector<at::Tensor> mean;
    for (std::int64_t j = 0; j < width(); ++j) {
      const at::Tensor chance = chance_on(tables, x, j);
      if (j > 0) {
        const at::Tensor before = after.narrow(1, 0, j);
        const at::Tensor both = before.narrow(2, 1, most_) * chance.unsqueeze(1);
        later.select(1, j).narrow(0, 0, j).add_(weight.matmul(both.sum(2)));
        spend_(before, both);
      }
      const at::Tensor on = budget.narrow(1, 1, most_) * chance;
      after.select(1, j).narrow(1, 0, most_).copy_(on);
      spend_(budget, on);
      mean.push_back(on.sum(1));
    }
    const at::Tensor p = at::stack(mean, 1), weighted = p * weight.unsqueeze(1);
    square.add_(weighted.t().mm(p));
    means.add_(weighted.sum(0));
  });
  return (later + later.t() + at::diag(means) - square).to(field.scalar_type());
}

Unit::Parameters Cardinality::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  return match_moments(*this, moments, smoothing, Columns::linked);
}

std::optional<double> Cardinality::state_count() const {
  double total = 0, choose = 1;
  for (std::int64_t on = 0; on <= most_; ++on) {
    total += choose;
    choose = std::round(choose * static_cast<double>(width() - on) / static_cast<double>(on + 1));
  }
  return total;
}

Unit::Digit Cardinality::digit() const {
  const double count = *state_count();
  return {.values = count < static_cast<double>(most_values) ? static_cast<std::int64_t>(count) : most_values,
          .columns = width()};
}

at::Tensor Cardinality::states(const at::Tensor& numbers, at::ScalarType type) const {
  // How many states the units from j on have when r may be on: those with unit j off come first.
  std::vector<at::Tensor> counts(static_cast<std::size_t>(width()) + 1);
  counts.back() = at::ones({most_ + 1}, numbers.options());
  for (std::size_t j = counts.size() - 1; j > 0; --j) {
    counts[j - 1] = counts[j].clone();
    counts[j - 1].narrow(0, 1, most_).add_(counts[j].narrow(0, 0, most_));
    counts[j - 1].clamp_max_(most_values / 2);  // so that the next sum is still a number
  }
  at::Tensor result = at::empty({numbers.size(0), width()}, numbers.options().dtype(type));
  at::Tensor rest = numbers, left = at::full_like(numbers, most_);
  for (std::int64_t j = 0; j < width(); ++j) {
    const at::Tensor off = counts[static_cast<std::size_t>(j) + 1].index_select(0, left);
    const at::Tensor on = rest.ge(off);
    result.select(1, j).copy_(on);
    rest = rest - on.to(at::kLong) * off;
    left = left - on.to(at::kLong);
  }
  return result;
}

std::string Cardinality::complaint(const at::Tensor& state) const {
  if (std::string bits = Bernoulli(width()).complaint(state); !bits.empty()) return bits;
  const at::Tensor bad = state.sum(1, /*keepdim=*/false, at::kDouble).gt(static_cast<double>(most_) + 1e-4);
  if (!bad.any().item<bool>()) return {};
  return format("row {} has more than {} units on, and {} allows no more", bad.nonzero()[0][0].item<std::int64_t>(),
                most_, spec());
}

}  // namespace harmonium
