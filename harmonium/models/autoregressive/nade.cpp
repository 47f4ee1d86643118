#include "harmonium/models/autoregressive/nade.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// x z − log(1 + e^z) in float64, written so that no large z overflows.
at::Tensor log_bernoulli(const at::Tensor& x, const at::Tensor& logits) {
  const at::Tensor z = logits.to(at::kDouble);
  return x.to(at::kDouble) * z - z.clamp_min(0) - at::log1p(at::exp(-z.abs()));
}

constexpr std::int64_t judged_rows = 2048;  // at once, so that float64 terms of a large set do not pile up

}  // namespace

Nade::Nade(std::int64_t inputs, std::int64_t hidden, std::vector<std::int64_t> order, at::ScalarType type)
    : inputs_(inputs), hidden_(hidden), order_(std::move(order)) {
  require(inputs_ >= 1 && hidden_ >= 1, "a NADE needs inputs and hidden units, and {} and {} were asked for", inputs_,
          hidden_);
  std::vector<std::int64_t> raster(static_cast<std::size_t>(inputs_));
  std::iota(raster.begin(), raster.end(), 0);
  if (order_.empty()) order_ = raster;
  std::vector<std::int64_t> sorted = order_;
  std::ranges::sort(sorted);
  require(sorted == raster, "the order of a NADE of {} inputs must name each column from 0 to {} once", inputs_,
          inputs_ - 1);
  if (order_ != raster) {
    places_ = at::tensor(order_, at::kLong);
    columns_ = places_.argsort();
  }
  parameters_.insert("hidden.bias", at::zeros({hidden_}, type));
  parameters_.insert("encoder.weights", at::zeros({inputs_, hidden_}, type));
  parameters_.insert("output.bias", at::zeros({inputs_}, type));
  parameters_.insert("decoder.weights", at::zeros({inputs_, hidden_}, type));
}

Topology Nade::topology() const {
  Topology result;
  result.layers = {{.name = "input", .width = inputs_, .parameters = {}},
                   {.name = "output", .width = inputs_, .parameters = {"output.bias"}},
                   {.name = "hidden", .width = hidden_, .parameters = {"hidden.bias"}}};
  result.edges = {{.weights = "encoder.weights", .lower = 0, .upper = 2},
                  {.weights = "decoder.weights", .lower = 1, .upper = 2}};
  return result;
}

Nade Nade::with_parameters(Moments parameters) const {
  require(parameters.entries().size() == parameters_.entries().size(), "a NADE has {} parameters, not {}",
          parameters_.entries().size(), parameters.entries().size());
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(),
            "parameter {} does not fit a NADE of {} inputs and {} hidden units: it has {} numbers where {} belong",
            name, inputs_, hidden_, parameters[name].numel(), value.numel());
  Nade other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

Nade Nade::to(const at::TensorOptions& options) const {
  Nade other = *this;
  other.parameters_ = parameters_.to(options).clone();
  return other;
}

at::Tensor Nade::to_order(const at::Tensor& rows) const {
  return places_.defined() ? rows.index_select(rows.dim() - 1, places_.to(rows.device())) : rows;
}

at::Tensor Nade::to_columns(const at::Tensor& in_order) const {
  return columns_.defined() ? in_order.index_select(in_order.dim() - 1, columns_.to(in_order.device())) : in_order;
}

NadeTensors Nade::in_order() const {
  const auto sorted = [&](const char* name) {
    const at::Tensor& value = parameters_[name];
    return places_.defined() ? value.index_select(0, places_.to(value.device())) : value;
  };
  return {.hidden_bias = parameters_["hidden.bias"],
          .encoder = sorted("encoder.weights"),
          .output_bias = sorted("output.bias"),
          .decoder = sorted("decoder.weights")};
}

at::Tensor Nade::fitting(const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == inputs_, "a NADE of {} inputs takes rows of as many values, not {}",
          inputs_, rows.dim() == 2 ? rows.size(1) : -1);
  return rows.to(parameters_["hidden.bias"].options());
}

at::Tensor Nade::logits(const at::Tensor& rows) const {
  return to_columns(nade_logits(in_order(), to_order(fitting(rows))));
}

at::Tensor Nade::log_conditionals(const at::Tensor& rows) const {
  const at::Tensor x = fitting(rows);
  return log_bernoulli(x, logits(x));
}

at::Tensor Nade::log_probabilities(const at::Tensor& rows) const {
  const at::Tensor x = fitting(rows);
  at::Tensor result = at::empty({x.size(0)}, x.options().dtype(at::kDouble));
  for (std::int64_t first = 0; first < x.size(0); first += judged_rows) {
    const std::int64_t count = std::min(judged_rows, x.size(0) - first);
    result.narrow(0, first, count).copy_(log_conditionals(x.narrow(0, first, count)).sum(1));
  }
  return result;
}

at::Tensor Nade::conditional_means(const at::Tensor& rows) const { return logits(rows).sigmoid(); }

LogLikelihoodGradient Nade::log_likelihood_gradient(const at::Tensor& rows) const {
  const at::Tensor x = to_order(fitting(rows));
  require(x.size(0) >= 1, "the likelihood of no rows at all has no gradient; give at least one row");
  const NadeSums sums = nade_gradient(in_order(), x);
  const double share = 1.0 / static_cast<double>(x.size(0));
  const auto mean = [&](const at::Tensor& sum, bool sorted) {
    return (sorted && columns_.defined() ? sum.index_select(0, columns_.to(sum.device())) : sum) * share;
  };
  LogLikelihoodGradient result;
  result.log_likelihood = log_bernoulli(x, sums.logits).sum() * share;
  result.gradient.insert("hidden.bias", mean(sums.gradient.hidden_bias, false));
  result.gradient.insert("encoder.weights", mean(sums.gradient.encoder, true));
  result.gradient.insert("output.bias", mean(sums.gradient.output_bias, true));
  result.gradient.insert("decoder.weights", mean(sums.gradient.decoder, true));
  return result;
}

at::Tensor Nade::sample(const Key& key, std::int64_t count) const {
  require(count >= 0, "{} rows cannot be drawn", count);
  const at::TensorOptions options = parameters_["hidden.bias"].options();
  return sample_given(key, at::zeros({count, inputs_}, options), at::zeros({inputs_}, at::kBool));
}

at::Tensor Nade::sample_given(const Key& key, const at::Tensor& rows, const at::Tensor& known) const {
  require(known.dim() == 1 && known.size(0) == inputs_,
          "a NADE of {} inputs needs to be told of each whether it is known, and was told of {}", inputs_,
          known.numel());
  const at::Tensor in_order_known = to_order(known.ne(0).cpu()).contiguous();
  const bool* is_known = in_order_known.data_ptr<bool>();
  const std::int64_t first = std::find(is_known, is_known + inputs_, false) - is_known;
  const std::int64_t late = std::find(is_known + first, is_known + inputs_, true) - is_known;
  require(late == inputs_,
          "a NADE draws exactly only what comes after all known columns in its order: column {} is known, but column "
          "{}, which is not, comes before it; train a NADE whose order begins with the known columns",
          late == inputs_ ? 0 : order_[static_cast<std::size_t>(late)],
          late == inputs_ ? 0 : order_[static_cast<std::size_t>(first)]);
  at::Tensor x = to_order(fitting(rows)).clone(at::MemoryFormat::Contiguous);
  nade_draw_(in_order(), x, uniform(key, x.sizes(), x.options()), first);
  return to_columns(x);
}

void initialize(Nade& nade, const Key& key, const at::Tensor& means) {
  require(means.dim() == 1 && means.size(0) == nade.inputs(),
          "a NADE of {} inputs starts from as many column means, and {} were given", nade.inputs(), means.numel());
  const double limit = std::sqrt(6.0 / static_cast<double>(nade.inputs() + nade.hidden()));
  Moments& parameters = nade.parameters();
  for (std::uint64_t stream = 0; const char* name : {"encoder.weights", "decoder.weights"}) {
    at::Tensor& weights = parameters[name];
    weights.copy_(uniform(key.fold_in(stream++), weights.sizes(), weights.options()).mul_(2 * limit).sub_(limit));
  }
  parameters["hidden.bias"].zero_();
  const at::Tensor p = means.to(at::kDouble).clamp(0.001, 0.999);
  parameters["output.bias"].copy_(at::log(p) - at::log1p(-p));
}

std::vector<std::int64_t> parse_order(const std::string& text, std::int64_t inputs) {
  require(inputs >= 1, "an order needs at least one input, and {} were given", inputs);
  std::vector<std::int64_t> order(static_cast<std::size_t>(inputs));
  if (text == "raster") {
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  const std::string random = "random:";
  require(text.starts_with(random), "unknown order '{}'; there are: raster, random:SEED", text);
  std::uint64_t seed = 0;
  const char *begin = text.data() + random.size(), *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, seed);
  require(error == std::errc{} && stop == end && begin != end,
          "order '{}': the seed after 'random:' must be a whole number from 0 to 2^64 − 1", text);
  const at::Tensor drawn = permutation(Key(seed), inputs);
  std::copy_n(drawn.data_ptr<std::int64_t>(), inputs, order.begin());
  return order;
}

}  // namespace harmonium
