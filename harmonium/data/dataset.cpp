#include "harmonium/data/dataset.h"

#include <algorithm>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Rows looked at together in a pass over a whole table: large enough to be fast, small enough to stay in cache as
// floats.
constexpr std::int64_t rows_at_once = 1024;

at::Tensor scaled(const at::Tensor& values, double scale) {
  // Always a copy, so that nobody who works in place on the result changes the data.
  at::Tensor result = values.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  return scale == 1.0 ? result : result.mul_(scale);
}

template <class Visit>
void for_each_chunk(const Dataset& data, Visit visit) {
  for (std::int64_t begin = 0; begin < data.rows(); begin += rows_at_once)
    visit(begin, data.slice(begin, std::min(begin + rows_at_once, data.rows())).to_float());
}

// Throws `explain` for the first value, row by row, for which `accept` (tensor → boolean tensor) is false.
template <class Accept>
void require_every_value(const Dataset& data, Accept accept, const char* fault, const char* advice) {
  for_each_chunk(data, [&](std::int64_t first_row, const at::Tensor& chunk) {
    const at::Tensor accepted = accept(chunk);
    if (accepted.all().item<bool>()) return;
    const at::Tensor offenders = accepted.logical_not().nonzero();
    const auto row = offenders[0][0].item<std::int64_t>(), column = offenders[0][1].item<std::int64_t>();
    fail("{}: row {}, column {} (counted from 0) holds {}, which {}; {}", data.name, first_row + row, column,
         chunk[row][column].item<float>(), fault, advice);
  });
}

}  // namespace

std::string to_string(Binarization binarization) {
  switch (binarization) {
    case Binarization::none:
      return "none";
    case Binarization::threshold:
      return "threshold";
    case Binarization::stochastic:
      return "stochastic";
    case Binarization::dequantized:
      return "dequantized";
    case Binarization::levels:
      return "levels";
  }
  throw std::logic_error("unknown binarization");
}

Binarization parse_binarization(const std::string& name) {
  for (const auto candidate : {Binarization::none, Binarization::threshold, Binarization::stochastic,
                               Binarization::dequantized, Binarization::levels})
    if (name == to_string(candidate)) return candidate;
  fail("unknown binarization '{}': choose none, threshold, stochastic, dequantized or levels", name);
}

at::Tensor Dataset::gather(const at::Tensor& rows) const { return scaled(values.index_select(0, rows), scale); }

at::Tensor Dataset::to_float() const { return scaled(values, scale); }

at::Tensor Dataset::step() const { return moved_step.defined() ? moved_step : at::scalar_tensor(scale, at::kFloat); }

bool Dataset::is_binary() const {
  bool binary = true;
  for_each_chunk(*this, [&](std::int64_t, const at::Tensor& chunk) {
    at::Tensor accepted = chunk.eq(0).logical_or_(chunk.eq(1));
    if (missing > 0) accepted.logical_or_(chunk.isnan());
    binary = binary && accepted.all().item<bool>();
  });
  return binary;
}

at::Tensor Dataset::column_means() const {
  require(rows() > 0, "{}: the means of a table with no rows do not exist", name);
  at::Tensor sum = at::zeros({columns()}, at::kDouble), known = at::zeros({columns()}, at::kDouble);
  for_each_chunk(*this, [&](std::int64_t, const at::Tensor& chunk) {
    if (missing == 0) {
      sum.add_(chunk.sum(0, false, at::kDouble));
      return;
    }
    known.add_(chunk.isnan().logical_not().sum(0).to(at::kDouble));
    sum.add_(chunk.nan_to_num(0).sum(0, false, at::kDouble));
  });
  if (missing > 0) return sum.div_(known);
  return sum.div_(static_cast<double>(rows()));
}

Dataset Dataset::first(std::int64_t limit) const { return limit <= 0 ? *this : slice(0, std::min(limit, rows())); }

void Dataset::count_missing() {
  if (missing > 0) missing = values.isnan().sum().item<std::int64_t>();
}

Dataset Dataset::slice(std::int64_t begin, std::int64_t end) const {
  require(0 <= begin && begin <= end && end <= rows(), "{}: there are no rows {} to {} in a table of {}", name, begin,
          end, rows());
  Dataset part = *this;
  part.values = values.narrow(0, begin, end - begin);
  part.lengths.clear();
  if (labels.defined()) part.labels = labels.narrow(0, begin, end - begin);
  part.count_missing();
  return part;
}

Dataset Dataset::select(const at::Tensor& rows) const {
  Dataset part = *this;
  part.values = values.index_select(0, rows);
  part.lengths.clear();
  if (labels.defined()) part.labels = labels.index_select(0, rows);
  part.count_missing();
  return part;
}

Dataset Dataset::select_cases(const at::Tensor& cases) const {
  if (lengths.empty()) return select(cases);
  const at::Tensor chosen = cases.to(at::kCPU, at::kLong).contiguous();
  std::vector<std::int64_t> starts = {0}, kept, rows_of_all;
  for (const std::int64_t length : lengths) starts.push_back(starts.back() + length);
  for (std::int64_t i = 0; i < chosen.numel(); ++i) {
    const auto sequence = static_cast<std::size_t>(chosen.data_ptr<std::int64_t>()[i]);
    require(sequence < lengths.size(), "{}: there is no sequence {} among {}", name, sequence, lengths.size());
    kept.push_back(lengths[sequence]);
    for (std::int64_t row = starts[sequence]; row < starts[sequence + 1]; ++row) rows_of_all.push_back(row);
  }
  Dataset part = select(at::tensor(rows_of_all, at::kLong));
  part.lengths = std::move(kept);
  return part;
}

Dataset as_counts(Dataset data) {
  if (data.counts) return data;
  data.scale = 1.0;
  data.image = std::nullopt;
  data.counts = true;
  data.whole_numbers = false;
  std::erase_if(data.remarks, [](const std::string& each) { return each.starts_with("values divided by"); });
  if (data.values.scalar_type() != at::kByte)
    require_every_value(
        data, [](const at::Tensor& x) { return x.ge(0).logical_and_(x.eq(x.round())).logical_and_(x.isfinite()); },
        "is no number of words", "word counts are whole numbers, 0 or more");
  return data;
}

double mean_length(const Dataset& counts) { return counts.column_means().sum().item<double>(); }

void require_known_meaning(const Dataset& data) {
  if (!data.whole_numbers) return;
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for_each_chunk(data, [&](std::int64_t, const at::Tensor& chunk) {
    const at::Tensor known = chunk.masked_select(chunk.isnan().logical_not_());
    if (known.numel() == 0) return;
    least = std::min(least, known.min().item<double>());
    largest = std::max(largest, known.max().item<double>());
  });
  fail(
      "{}: whole numbers {} … {} may be gray values, counts, categories or measurements, and a wrong guess would give a "
      "wrong model. Say which: @scale {} for gray values (divided by that; also @scale max), @visible softmax:{} for "
      "categories, @visible counts for word counts, @visible gaussian for measurements",
      data.name, least, largest, largest > 16 ? 255 : largest, least >= 1 ? largest : largest + 1);
}

void require_all_values(const Dataset& data, const std::string& who) {
  require(data.missing == 0,
          "{}: {} values are missing (empty, NA or NaN), and {} needs all of them. Fill them in, leave those rows out, "
          "or train an rbm, which learns around them",
          data.name, data.missing, who);
}

Dataset complete_rows(const Dataset& data) {
  if (data.missing == 0) return data;
  const at::Tensor gaps = data.values.isnan(), whole = gaps.any(1).logical_not().nonzero().view({-1});
  if (whole.numel() > 0) return data.select(whole);
  Dataset filled = data;
  filled.values = at::where(gaps, (data.column_means() / data.scale).to(data.values.options()), data.values);
  filled.missing = 0;
  return filled;
}

Dataset one_hot_coded(Dataset data, std::int64_t states, std::optional<std::int64_t>& first) {
  require_all_values(data, "a softmax unit");
  const at::Tensor values = data.scale == 1.0 ? data.to_float() : data.values.to(at::kFloat);
  const std::int64_t rows = data.rows(), columns = data.columns();
  if (columns % states == 0) {
    const at::Tensor bits = values.eq(0).logical_or(values.eq(1));
    if (bits.all().item<bool>() && values.view({-1, states}).sum(1).eq(1).all().item<bool>()) return data;
  }
  const auto least = values.min().item<double>(), largest = values.max().item<double>();
  if (!first) first = largest == static_cast<double>(states) && least >= 1 ? 1 : 0;
  const auto begin = static_cast<double>(*first), end = begin + static_cast<double>(states - 1);
  require(values.eq(values.round()).all().item<bool>() && least >= begin && largest <= end,
          "{}: values {} … {} are not {} categories: each has to be a whole number of {} … {}, or groups of {} columns "
          "of which one is 1",
          data.name, least, largest, states, begin, end, states);
  data.values = at::one_hot(values.to(at::kLong) - *first, states).view({rows, columns * states}).to(at::kByte);
  data.scale = data.divided_by = 1.0;
  data.image = std::nullopt;
  data.whole_numbers = false;
  std::erase_if(data.remarks, [](const std::string& each) { return each.starts_with("values divided by"); });
  data.remarks.push_back(format("{} columns of categories {} … {}, one-hot", columns, begin, end));
  return data;
}

void require_unit_interval(const Dataset& data) {
  // NaN compares false with everything, so it is refused too.
  require_every_value(
      data, [](const at::Tensor& x) { return x.ge(0).logical_and_(x.le(1)); }, "is outside [0, 1]",
      "Bernoulli units need probabilities or bits: rescale the data, or choose another unit type");
}

void require_whole_numbers(const Dataset& data) {
  if (data.values.scalar_type() == at::kByte) return;
  Dataset stored = data;
  stored.scale = 1;
  require_every_value(
      stored, [](const at::Tensor& x) { return x.eq(x.round()).logical_and_(x.isfinite()).logical_or_(x.isnan()); },
      "is not a whole number",
      "noise of one stored step (@dequantize) and gray levels (@binarize levels) are for values that were rounded to "
      "whole numbers");
}

std::int64_t gray_levels(const Dataset& data) {
  const double highest = std::round(1 / data.scale);
  require(
      !data.moved_step.defined() && highest >= 1 && highest <= 65535 && std::abs(1 / data.scale - highest) < 1e-6,
      "{}: gray levels are whole numbers divided by the highest one, and these are divided by {}; give @scale, such "
      "as 255 or max",
      data.name, 1 / data.scale);
  require_whole_numbers(data);
  require_every_value(
      data, [](const at::Tensor& x) { return x.ge(0).logical_and_(x.le(1)); }, "is outside [0, 1]",
      "gray levels lie between 0 and the number that values are divided by: give @scale max");
  return static_cast<std::int64_t>(highest) + 1;
}

void require_binary(const Dataset& data) {
  require_every_value(
      data, [](const at::Tensor& x) { return x.eq(0).logical_or_(x.eq(1)); }, "is neither 0 nor 1",
      "binarize the data first (threshold or stochastic)");
}

}  // namespace harmonium
