#include "harmonium/models/autoregressive/rnade.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/distributions/mixture.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/autoregressive/nade.h"

namespace harmonium {

namespace {

constexpr const char* rnade_encoder = "encoder.weights";
constexpr const char* rnade_hidden = "hidden.bias";
constexpr const char* rnade_scale = "hidden.scale";
constexpr const char* rnade_decoder = "decoder.weights";
constexpr const char* rnade_output = "output.bias";

std::string mixture_spec(const RnadeStructure& shape) {
  require(shape.kernel == "gaussian" || shape.kernel == "laplace",
          "unknown kernel '{}' of a mixture; there are: gaussian, laplace", shape.kernel);
  return format("{}_mixture:{}x{}", shape.kernel, shape.inputs, shape.components);
}

}  // namespace

Rnade::Rnade(RnadeStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(mixture_spec(structure_))) {
  const std::int64_t K = structure_.orders, N = structure_.inputs, H = structure_.hidden, C = structure_.components;
  require(H >= 1, "an RNADE needs at least one hidden unit, not {}", H);
  require(K >= 1, "an RNADE needs at least one order, not {}", K);
  require(K == 1 || structure_.order != "raster", "{} orders of an RNADE need an order random:SEED, not raster", K);
  one_ = visible_->of_one_variable();
  std::vector<std::int64_t> places;
  for (std::int64_t number = 0; number < K; ++number)
    for (const std::int64_t column : order(number)) places.push_back(column);
  orders_ = at::tensor(places, at::kLong);
  columns_ = (orders_.reshape({K, N}) + at::arange(K, at::kLong).unsqueeze(1) * N).reshape({-1});
  const auto fixed = [&](const std::vector<double>& values, double usual) {
    require(values.empty() || static_cast<std::int64_t>(values.size()) == N,
            "an RNADE of {} inputs has {} numbers for its units", N, values.size());
    return values.empty() ? at::full({N}, usual, at::kDouble) : at::tensor(values, at::kDouble);
  };
  means_ = fixed(structure_.means, 0);
  deviations_ = fixed(structure_.deviations, 1);
  require(at::isfinite(means_).logical_and(at::isfinite(deviations_)).logical_and(deviations_.gt(0)).all().item<bool>(),
          "the units of an RNADE must be finite, and deviations above zero");
  log_volume_ = deviations_.log().sum().item<double>();
  parameters_.insert(rnade_encoder, at::zeros({K, N, H}, type));
  parameters_.insert(rnade_hidden, at::zeros({K, H}, type));
  parameters_.insert(rnade_scale, at::ones({K, N}, type));
  parameters_.insert(rnade_decoder, at::zeros({K, N, H, 3 * C}, type));
  parameters_.insert(rnade_output, at::zeros({K, N, 3 * C}, type));
}

std::vector<std::int64_t> Rnade::order(std::int64_t number) const {
  const std::string random = "random:";
  if (number == 0) return parse_order(structure_.order, structure_.inputs);
  const Key key = Key(std::stoull(structure_.order.substr(random.size()))).fold_in(static_cast<std::uint64_t>(number));
  return parse_order(random + std::to_string(key.bits()), structure_.inputs);
}

at::TensorOptions Rnade::options() const { return parameters_[rnade_output].options(); }

Rnade Rnade::with_parameters(Moments parameters) const {
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(), "parameter {} does not fit this RNADE", name);
  Rnade other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

Rnade Rnade::to(const at::TensorOptions& options) const {
  Rnade other = *this;
  other.parameters_ = parameters_.to(options).clone();
  const at::Device device = other.options().device();
  for (at::Tensor* each : {&other.orders_, &other.columns_, &other.means_, &other.deviations_})
    *each = each->to(device);
  return other;
}

at::Tensor Rnade::standardized(const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == structure_.inputs, "an RNADE of {} inputs takes rows of {} values, not {}",
          structure_.inputs, structure_.inputs, rows.dim() == 2 ? rows.size(1) : -1);
  return ((rows.to(means_.options()) - means_) / deviations_).to(options());
}

at::Tensor Rnade::in_units_of_data(const at::Tensor& standardized) const {
  return (standardized.to(at::kDouble) * deviations_ + means_).to(options());
}

at::Tensor Rnade::to_orders(const at::Tensor& standardized) const {
  return standardized.t().index_select(0, orders_).reshape({structure_.orders, structure_.inputs, -1, 1});
}

at::Tensor Rnade::ordered_raw(const Moments& parameters, const at::Tensor& standardized,
                              const at::Tensor& hidden_factors) const {
  const std::int64_t K = structure_.orders, N = structure_.inputs, H = structure_.hidden, rows = standardized.size(0);
  const auto by_place = [&](const char* name, std::vector<std::int64_t> shape) {
    std::vector<std::int64_t> flat = {K * N};
    flat.insert(flat.end(), shape.begin(), shape.end());
    return parameters[name].reshape(flat).index_select(0, columns_);
  };
  const at::Tensor terms = to_orders(standardized) * by_place(rnade_encoder, {H}).reshape({K, N, 1, H});
  // What stands before a place is the running sum of the places before it, never a difference: no later value touches
  // a bit of it.
  const at::Tensor none = at::zeros({K, 1, rows, H}, terms.options());
  const at::Tensor before = N == 1 ? none : at::cat({none, terms.narrow(1, 0, N - 1).cumsum(1)}, 1);
  const at::Tensor a = before + parameters[rnade_hidden].reshape({K, 1, 1, H});
  at::Tensor h = (a * by_place(rnade_scale, {1, 1}).reshape({K, N, 1, 1})).relu();
  if (hidden_factors.defined()) h = h * hidden_factors;
  const std::int64_t outputs = one_->raw_width();
  return at::baddbmm(by_place(rnade_output, {1, outputs}), h.reshape({K * N, rows, H}),
                     by_place(rnade_decoder, {H, outputs}))
      .reshape({K, N, rows, outputs});
}

at::Tensor Rnade::log_prob(const Moments& parameters, const at::Tensor& rows, const RnadeNoise& noise) const {
  const at::Tensor z = standardized(rows);
  const at::Tensor raw = ordered_raw(parameters, noise.inputs.defined() ? z + noise.inputs : z, noise.hidden);
  return one_->log_prob(to_orders(z), raw).sum(1) - log_volume_;
}

RnadeNoise Rnade::draw_noise(const Key& key, std::int64_t rows, double input_noise, double dropout) const {
  RnadeNoise noise;
  if (input_noise > 0) noise.inputs = input_noise * normal(key.fold_in(0), {rows, structure_.inputs}, options());
  if (dropout > 0)
    noise.hidden =
        uniform(key.fold_in(1), {structure_.orders, 1, rows, structure_.hidden}, options()).ge(dropout).to(options()) /
        (1 - dropout);
  return noise;
}

at::Tensor Rnade::raw(const at::Tensor& standardized, std::int64_t number) const {
  const c10::NoGradGuard without_gradient;
  const at::Tensor of_net = ordered_raw(parameters_, standardized.to(options()))[number];  // N by place × rows × 3C
  const at::Tensor places = orders_.narrow(0, number * structure_.inputs, structure_.inputs).argsort();
  return of_net.index_select(0, places).permute({1, 0, 2}).reshape({standardized.size(0), -1});
}

at::Tensor Rnade::log_probabilities(const at::Tensor& rows) const {
  const c10::NoGradGuard without_gradient;
  constexpr std::int64_t numbers_at_once = 1 << 23;
  const std::int64_t a_row = structure_.orders * structure_.inputs * std::max(structure_.hidden, one_->raw_width());
  const std::int64_t at_once = std::max<std::int64_t>(1, numbers_at_once / a_row);
  std::vector<at::Tensor> blocks = {at::empty({0}, options().dtype(at::kDouble))};
  for (std::int64_t first = 0; first < rows.size(0); first += at_once) {
    const at::Tensor block = rows.narrow(0, first, std::min(at_once, rows.size(0) - first));
    blocks.push_back(at::logsumexp(log_prob(parameters_, block), 0) - std::log(static_cast<double>(structure_.orders)));
  }
  return at::cat(blocks);
}

OrderedDraw Rnade::walk(const Key& key, const at::Tensor& known, std::int64_t number) const {
  const c10::NoGradGuard without_gradient;
  OrderedDraw result{.values = known.clone(), .means = known.clone()};
  const at::Tensor encoder = parameters_[rnade_encoder][number], scale = parameters_[rnade_scale][number],
                   decoder = parameters_[rnade_decoder][number], bias = parameters_[rnade_output][number];
  at::Tensor a = parameters_[rnade_hidden][number].repeat({known.size(0), 1});
  for (std::uint64_t step = 0; const std::int64_t column : order(number)) {
    const at::Tensor raw = at::addmm(bias[column], (a * scale[column]).relu(), decoder[column]);
    const at::Tensor given = known.narrow(1, column, 1), free = given.isnan();
    const at::Tensor value = at::where(free, one_->sample(key.fold_in(step++), raw), given);
    result.values.narrow(1, column, 1).copy_(value);
    result.means.narrow(1, column, 1).copy_(at::where(free, one_->mean(raw), given));
    a = a + value * encoder[column];
  }
  return {.values = in_units_of_data(result.values), .means = in_units_of_data(result.means)};
}

OrderedDraw Rnade::sample(const Key& key, std::int64_t count) const {
  require(count >= 0, "{} rows cannot be drawn", count);
  const at::Tensor u = uniform(key.fold_in(0), {count}, at::kDouble);
  const at::Tensor chosen = (u * static_cast<double>(structure_.orders)).to(at::kLong);
  const at::Tensor nothing = at::full({count, structure_.inputs}, std::nan(""), options());
  OrderedDraw result{.values = nothing.clone(), .means = nothing.clone()};
  for (std::int64_t number = 0; number < structure_.orders; ++number) {
    const at::Tensor which = chosen.eq(number).nonzero().reshape({-1}).to(options().device());
    if (which.size(0) == 0) continue;
    const OrderedDraw drawn =
        walk(key.fold_in(1).fold_in(static_cast<std::uint64_t>(number)), nothing.index_select(0, which), number);
    result.values.index_copy_(0, which, drawn.values);
    result.means.index_copy_(0, which, drawn.means);
  }
  return result;
}

OrderedDraw Rnade::complete(const Key& key, const at::Tensor& known) const {
  require(structure_.orders == 1,
          "an RNADE of {} orders is a mixture and draws no values given others; train one with @orders 1",
          structure_.orders);
  const at::Tensor z = standardized(known);
  const at::Tensor free = z.isnan().index_select(1, orders_).to(at::kInt);  // by place
  require(
      at::equal(free, std::get<0>(free.cummax(1))),
      "an RNADE draws exactly only what comes after all known values in its order; train one whose order begins with "
      "the known ones");
  return walk(key, z, 0);
}

void initialize(Rnade& net, const Key& key, const at::Tensor& means, const at::Tensor& deviations) {
  const RnadeStructure& shape = net.structure();
  const std::int64_t N = shape.inputs, H = shape.hidden, C = shape.components;
  require(means.numel() == N && deviations.numel() == N, "an RNADE of {} inputs begins at {} columns", N,
          means.numel());
  Moments& parameters = net.parameters();
  const auto fill = [&](const char* name, std::uint64_t stream, double limit) {
    at::Tensor& weights = parameters[name];
    weights.copy_(uniform(key.fold_in(stream), weights.sizes(), weights.options()).mul_(2 * limit).sub_(limit));
  };
  fill(rnade_encoder, 1, std::sqrt(6.0 / static_cast<double>(N + H)));
  fill(rnade_decoder, 2, 0.1 * std::sqrt(6.0 / static_cast<double>(H + 3 * C)));
  parameters[rnade_hidden].zero_();
  for (std::int64_t number = 0; number < shape.orders; ++number)
    for (double place = 1; const std::int64_t column : net.order(number))
      parameters[rnade_scale][number][column] = 1 / std::sqrt(place++);
  // Components of a standard column, moved and stretched to where the net sees the columns.
  const auto in_net = [&](const std::vector<double>& values, double usual) {
    return values.empty() ? at::full({N}, usual, at::kDouble) : at::tensor(values, at::kDouble);
  };
  const at::Tensor s = in_net(shape.deviations, 1), m = (means.to(at::kDouble) - in_net(shape.means, 0)) / s;
  constexpr double least = 1e-3;  // columns that never change
  const at::Tensor d = (deviations.to(at::kDouble) / s).clamp_min(least);
  const at::Tensor standard = net.visible().raw_of_means(at::zeros({N}, at::kDouble)).reshape({N, 3, C});
  const at::Tensor moved = at::stack({standard.select(1, 0), m.unsqueeze(1) + d.unsqueeze(1) * standard.select(1, 1),
                                      standard.select(1, 2) + d.log().unsqueeze(1)},
                                     1);
  parameters[rnade_output].copy_(moved.reshape({1, N, 3 * C}).expand_as(parameters[rnade_output]));
}

std::string complaint_about_columns(const at::Tensor& rows) {
  constexpr std::int64_t most_rows = 5000, few = 20;
  constexpr double highest = 0.98;
  const at::Tensor x = rows.narrow(0, 0, std::min(most_rows, rows.size(0))).to(at::kDouble);
  const std::int64_t count = x.size(0), columns = x.size(1);
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::int64_t different = std::get<0>(at::_unique(x.select(1, i))).numel();
    if (different < std::min(few, count / 2))
      return format("column {} (counted from 1) has only {} different value{}", i + 1, different,
                    different == 1 ? "" : "s");
  }
  const at::Tensor centred = x - x.mean(0), spread = centred.square().sum(0).sqrt();
  const at::Tensor correlation = centred.t().matmul(centred) / (spread.unsqueeze(1) * spread).clamp_min(1e-300);
  const at::Tensor pairs = correlation.abs().triu(1).gt(highest).nonzero();
  if (pairs.size(0) == 0) return {};
  const auto i = pairs[0][0].item<std::int64_t>(), j = pairs[0][1].item<std::int64_t>();
  return format("columns {} and {} (counted from 1) have a correlation of {:.3f}", i + 1, j + 1,
                correlation[i][j].item<double>());
}

}  // namespace harmonium
