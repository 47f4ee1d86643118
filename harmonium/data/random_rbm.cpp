#include "harmonium/data/random_rbm.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// Names of the streams below a teacher's key and below the key of a sample.
constexpr std::uint64_t weight_stream = 0, visible_bias_stream = 1, hidden_bias_stream = 2;
constexpr std::uint64_t hidden_draw_stream = 0, visible_draw_stream = 1;

// ln(1 + eˣ) without overflow.
at::Tensor log_one_plus_exp(const at::Tensor& x) { return at::logaddexp(x, at::zeros_like(x)); }

// Rows begin … end−1 of the table of all 2^width bit patterns, bit i of the row number in column i.
at::Tensor bit_patterns(std::int64_t begin, std::int64_t end, std::int64_t width) {
  at::Tensor patterns = at::empty({end - begin, width}, at::kDouble);
  auto* out = patterns.data_ptr<double>();
  for (std::int64_t code = begin; code < end; ++code)
    for (std::int64_t i = 0; i < width; ++i) *out++ = static_cast<double>(code >> i & 1);
  return patterns;
}

}  // namespace

RandomRbm::RandomRbm(const Key& key, const RandomRbmOptions& options) {
  require(options.visible >= 1 && options.visible <= 4096, "random_rbm: the visible units must be 1 to 4096, not {}",
          options.visible);
  require(options.hidden >= 1 && options.hidden <= 12,
          "random_rbm: the hidden units must be 1 to 12 (their states are enumerated), not {}", options.hidden);
  weights_ =
      options.weight_deviation * normal(key.fold_in(weight_stream), {options.visible, options.hidden}, at::kDouble);
  visible_bias_ = options.bias_deviation * normal(key.fold_in(visible_bias_stream), {options.visible}, at::kDouble) -
                  0.5 * weights_.sum(1);
  hidden_bias_ = options.bias_deviation * normal(key.fold_in(hidden_bias_stream), {options.hidden}, at::kDouble) -
                 0.5 * weights_.sum(0);

  hidden_states_ = bit_patterns(0, std::int64_t{1} << options.hidden, options.hidden);
  const at::Tensor log_weight = at::mv(hidden_states_, hidden_bias_) +
                                log_one_plus_exp(at::mm(hidden_states_, weights_.t()) + visible_bias_).sum(1);
  log_partition_ = log_weight.logsumexp(0).item<double>();
  hidden_cumulative_ = (log_weight - log_partition_).exp().cumsum(0);
}

Dataset RandomRbm::sample(std::int64_t rows, const Key& key) const {
  require(rows >= 0, "random_rbm: cannot draw {} rows", rows);
  const at::Tensor u = uniform(key.fold_in(hidden_draw_stream), {rows}, at::kDouble);
  // Rounding may leave the last cumulative probability a hair below u.
  const at::Tensor state = at::searchsorted(hidden_cumulative_, u, /*out_int32=*/false, /*right=*/true)
                               .clamp_max(hidden_states_.size(0) - 1);
  const at::Tensor h = hidden_states_.index_select(0, state);
  const at::Tensor probability = at::sigmoid(at::mm(h, weights_.t()) + visible_bias_);
  return Dataset{.name = "random_rbm",
                 .values = sample_bernoulli(key.fold_in(visible_draw_stream), probability).to(at::kByte)};
}

at::Tensor RandomRbm::log_probability(const at::Tensor& values) const {
  require(values.dim() == 2 && values.size(1) == weights_.size(0),
          "random_rbm: log_probability needs rows of {} visible units", weights_.size(0));
  const at::Tensor v = values.to(at::kDouble);
  return at::mv(v, visible_bias_) + log_one_plus_exp(at::mm(v, weights_) + hidden_bias_).sum(1) - log_partition_;
}

double RandomRbm::entropy() const {
  const std::int64_t visible = weights_.size(0), states = std::int64_t{1} << std::min<std::int64_t>(visible, 20);
  require(visible <= 20, "random_rbm: the entropy is enumerated over visible states, at most 20 units, not {}",
          visible);
  constexpr std::int64_t chunk = 1 << 14;
  double entropy = 0;
  for (std::int64_t begin = 0; begin < states; begin += chunk) {
    const at::Tensor log_p = log_probability(bit_patterns(begin, std::min(begin + chunk, states), visible));
    entropy -= log_p.exp().mul(log_p).sum().item<double>();
  }
  return entropy;
}

}  // namespace harmonium
