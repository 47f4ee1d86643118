#include "harmonium/units/counts.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

std::string Counts::spec() const { return format("counts:{}", width()); }

at::Tensor Counts::with_own_state(const at::Tensor& field, const at::Tensor& state) const {
  // Rows of means have the length of their document up to rounding.
  return at::cat({field, state.sum(1, /*keepdim=*/true).round().to(field.scalar_type())}, 1);
}

Counts::Choice Counts::choice(const at::Tensor& field) const {
  require(field.size(1) == width() + 1,
          "word counts ({}) are known given the number of words of each row, and here nothing says how many there are; "
          "use methods that start at documents (@gradient cd)",
          spec());
  return {field.narrow(1, 0, width()), field.narrow(1, width(), 1)};
}

at::Tensor Counts::mean(const at::Tensor& field, const Parameters&) const {
  const auto [words, length] = choice(field);
  return at::softmax(words, 1).mul_(length);
}

at::Tensor Counts::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  // Word by word by the inverse distribution function, all rows in one search: row r's cumulative probabilities lie
  // between r and r + 1. Float64, so that thousands of rows cost no digits that matter.
  const auto [words, length] = choice(field);
  const std::int64_t rows = field.size(0);
  const at::Tensor lengths = length.squeeze(1).to(at::kLong);
  const at::Tensor row = at::arange(rows, lengths.options());
  const at::Tensor start = row.to(at::kDouble);
  const at::Tensor cumulative = at::cumsum(at::softmax(words.to(at::kDouble), 1), 1);
  const at::Tensor ends = (cumulative / cumulative.narrow(1, width() - 1, 1) + start.unsqueeze(1)).reshape({-1});
  const at::Tensor row_of_word = row.repeat_interleave(lengths);
  const at::Tensor u = uniform(key, {row_of_word.size(0)}, start.options()) + row_of_word.to(at::kDouble);
  // Rounding may carry a word over the edge of its row.
  const at::Tensor first = row_of_word * width();
  const at::Tensor chosen =
      at::searchsorted(ends, u, /*out_int32=*/false, /*right=*/true).clamp(first, first + (width() - 1));
  return at::bincount(chosen, {}, rows * width()).reshape({rows, width()}).to(field.scalar_type());
}

at::Tensor Counts::mode(const at::Tensor& field, const Parameters&) const {
  // Of counts, log p = Σ x_k log p_k − log x_k! is concave in every x_k, so that words may be given out one by one,
  // each to the k with the largest p_k / (x_k + 1). No mode has fewer than ⌊D p_k⌋ of a word: less than K are left.
  const auto [words, length] = choice(field.to(at::kDouble));
  const at::Tensor p = at::softmax(words, 1);
  at::Tensor result = (p * length).floor();
  for (;;) {
    const at::Tensor missing = result.sum(1, /*keepdim=*/true).lt(length - 0.5);
    if (!missing.any().item<bool>()) return result.to(field.scalar_type());
    const at::Tensor best = (p / (result + 1)).argmax(1, /*keepdim=*/true);
    result.scatter_add_(1, best, missing.to(at::kDouble));
  }
}

at::Tensor Counts::log_partition(const at::Tensor& field, const Parameters&) const {
  const auto [words, length] = choice(field.to(at::kDouble));
  return at::logsumexp(words, 1) * length.squeeze(1);
}

at::Tensor Counts::entropy(const at::Tensor& field, const Parameters&) const {
  const auto [words, length] = choice(field.to(at::kDouble));
  const at::Tensor log_p = at::log_softmax(words, 1);
  return -(log_p.exp() * log_p).sum(1) * length.squeeze(1);
}

at::Tensor Counts::expected_square(const at::Tensor& field, const Parameters&) const {
  const auto [words, length] = choice(field);
  const at::Tensor p = at::softmax(words, 1);
  return length * p * (1 + (length - 1) * p);  // D p (1 − p) + D² p²
}

at::Tensor Counts::conditional_covariance(const at::Tensor& field, const Parameters&, const at::Tensor& weights) const {
  // D (diag(p) − p pᵀ)
  const auto [words, length] = choice(field);
  const at::Tensor p = at::softmax(words, 1), mean = p * length;
  const at::Tensor scaled =
      weights.defined() ? mean * weights.to(p.scalar_type()).unsqueeze(1) : mean / static_cast<double>(p.size(0));
  return at::diag(average_rows(mean, weights)).sub_(scaled.t().mm(p));
}

Unit::Parameters Counts::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  // Shares of words, whatever the lengths; where there are no words at all, the same for each.
  const at::Tensor counts = moments[0].to(at::kDouble), total = counts.sum();
  const at::Tensor share = at::where(total.gt(0), counts / total, at::full_like(counts, 1.0) / width());
  return {at::log(share * (1 - smoothing) + smoothing / static_cast<double>(width())).to(moments[0].scalar_type())};
}

std::string Counts::complaint(const at::Tensor& state) const {
  const at::Tensor negative = at::logical_not(state.ge(0).logical_and(state.isfinite())).any(1);
  const at::Tensor total = state.sum(1, /*keepdim=*/false, at::kDouble);
  const at::Tensor broken = at::logical_not((total - total.round()).abs().le(1e-4 * total.clamp_min(1)));
  const at::Tensor bad = negative.logical_or(broken);
  if (!bad.any().item<bool>()) return {};
  const auto row = bad.nonzero()[0][0].item<std::int64_t>();
  if (negative[row].item<bool>()) return format("row {} holds something that is no number of words", row);
  return format("row {}: its numbers of words add up to {}, which is not a whole number", row,
                total[row].item<double>());
}

}  // namespace harmonium
