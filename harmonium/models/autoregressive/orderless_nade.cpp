#include "harmonium/models/autoregressive/orderless_nade.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr std::int64_t orderless_rows_at_once = 5000;

std::string deep_weights(std::size_t layer) { return format("layer{}.weights", layer + 1); }
std::string deep_bias(std::size_t layer) { return format("layer{}.bias", layer + 1); }
constexpr const char* shown_weights = "shown.weights";
constexpr const char* last_weights = "output.weights";
constexpr const char* last_bias = "output.bias";
constexpr const char* first_guess = "start.bias";

// Columns of each variable, variables × columns.
at::Tensor columns_of_variables(const std::vector<std::int64_t>& owners, std::int64_t variables) {
  const at::Tensor sorting = std::get<1>(at::sort(at::tensor(owners, at::kLong), true, 0, false));
  return sorting.reshape({variables, -1});
}

}  // namespace

OrderlessNade::OrderlessNade(OrderlessNadeStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)) {
  require(visible_->shared_width() == 0, "{} has a parameter that belongs to no variable; take gaussian:N:FLOOR",
          structure_.visible);
  require(!structure_.hidden.empty(), "an orderless NADE needs at least one hidden layer");
  require(structure_.orders >= 1, "an orderless NADE needs at least one order, not {}", structure_.orders);
  require(structure_.refinements >= 1, "an orderless NADE puts out something at least once, not {} times",
          structure_.refinements);
  one_ = visible_->of_one_variable();
  value_columns_ = columns_of_variables(visible_->value_variables(), visible_->variables());
  raw_columns_ = columns_of_variables(visible_->raw_variables(), visible_->variables());
  std::int64_t below = visible_->width();
  for (std::size_t l = 0; l < structure_.hidden.size(); ++l) {
    const std::int64_t width = structure_.hidden[l];
    require(width >= 1, "hidden layer {} of an orderless NADE has {} units; every layer needs at least one", l + 1,
            width);
    parameters_.insert(deep_weights(l), at::zeros({below, width}, type));
    if (l == 0) parameters_.insert(shown_weights, at::zeros({visible_->variables(), width}, type));
    parameters_.insert(deep_bias(l), at::zeros({width}, type));
    below = width;
  }
  parameters_.insert(last_weights, at::zeros({below, visible_->raw_width()}, type));
  parameters_.insert(last_bias, at::zeros({visible_->raw_width()}, type));
  if (structure_.refinements > 1) parameters_.insert(first_guess, at::zeros({visible_->width()}, type));
}

at::TensorOptions OrderlessNade::options() const { return parameters_[last_bias].options(); }

OrderlessNade OrderlessNade::with_parameters(Moments parameters) const {
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(), "parameter {} does not fit this orderless NADE", name);
  OrderlessNade other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

OrderlessNade OrderlessNade::to(const at::TensorOptions& options) const {
  OrderlessNade other = *this;
  other.parameters_ = parameters_.to(options).clone();
  other.value_columns_ = value_columns_.to(other.options().device());
  other.raw_columns_ = raw_columns_.to(other.options().device());
  return other;
}

at::Tensor OrderlessNade::order(std::int64_t number) const {
  return permutation(Key(structure_.seed).fold_in(static_cast<std::uint64_t>(number)), visible_->variables());
}

std::vector<at::Tensor> OrderlessNade::refined(const Moments& parameters, const at::Tensor& rows,
                                               const at::Tensor& shown) const {
  require(rows.dim() == 2 && rows.size(1) == visible_->width(),
          "an orderless NADE of {} takes rows of {} values, not of {}", structure_.visible, visible_->width(),
          rows.dim() == 2 ? rows.size(1) : -1);
  const std::int64_t columns = value_columns_.size(1);
  const at::Tensor of_columns = columns == 1 ? shown : shown.repeat_interleave(columns, 1), known = rows * of_columns;
  std::vector<at::Tensor> raws;
  for (std::int64_t t = 0; t < structure_.refinements; ++t) {
    at::Tensor inputs = known;
    if (structure_.refinements > 1)
      inputs = inputs + (t == 0 ? parameters[first_guess] : visible_->mean(raws.back())) * (1 - of_columns);
    at::Tensor values = at::addmm(parameters[deep_bias(0)], inputs, parameters[deep_weights(0)]);
    values = activate(structure_.activation, at::addmm(values, shown, parameters[shown_weights]));
    for (std::size_t l = 1; l < structure_.hidden.size(); ++l)
      values =
          activate(structure_.activation, at::addmm(parameters[deep_bias(l)], values, parameters[deep_weights(l)]));
    raws.push_back(at::addmm(parameters[last_bias], values, parameters[last_weights]));
  }
  return raws;
}

at::Tensor OrderlessNade::raw(const Moments& parameters, const at::Tensor& rows, const at::Tensor& shown) const {
  return refined(parameters, rows, shown).back();
}

at::Tensor OrderlessNade::draw_shown(const Key& key, std::int64_t rows, std::int64_t number,
                                     const at::TensorOptions& options) const {
  const std::int64_t variables = visible_->variables(), sets = rows * number;
  const at::TensorOptions whole = options.dtype(at::kLong), real = options.dtype(at::kDouble);
  const at::Tensor part = at::arange(number, real).repeat({rows});
  const at::Tensor share = (part + uniform(key.fold_in(0), {sets}, real)) / static_cast<double>(number);
  const at::Tensor size = (share * static_cast<double>(variables)).to(at::kLong).clamp_max(variables - 1);
  const at::Tensor noise = uniform(key.fold_in(1), {sets, variables}, options);
  const at::Tensor order = std::get<1>(at::sort(noise, true, 1, false));
  const at::Tensor first = at::arange(variables, whole).unsqueeze(0).lt(size.unsqueeze(1)).to(noise.scalar_type());
  return at::zeros_like(noise).scatter(1, order, first);
}

at::Tensor OrderlessNade::log_prob_estimate(const Moments& parameters, const at::Tensor& rows,
                                            const at::Tensor& shown) const {
  const at::Tensor hidden = 1 - shown;
  at::Tensor sum;
  for (const at::Tensor& raw : refined(parameters, rows, shown)) {
    const at::Tensor one = (visible_->log_prob_each(rows, raw) * hidden).sum(1, /*keepdim=*/false, at::kDouble);
    sum = sum.defined() ? sum + one : one;
  }
  const double scale = static_cast<double>(visible_->variables()) / static_cast<double>(structure_.refinements);
  return sum * scale / hidden.sum(1, /*keepdim=*/false, at::kDouble);
}

void OrderlessNade::walk_by_passes(std::int64_t rows, const at::Tensor& orders, const Visit& visit) const {
  at::Tensor x = at::zeros({rows, visible_->width()}, options()), shown = at::zeros({rows, orders.size(1)}, options());
  for (std::int64_t step = 0; step < visible_->variables(); ++step) {
    const at::Tensor which = orders.select(1, step).contiguous();
    const auto of_rows = [&](const at::Tensor& columns) { return columns.index_select(0, which).expand({rows, -1}); };
    const at::Tensor value = visit(step, which, raw(parameters_, x, shown).gather(1, of_rows(raw_columns_)));
    x.scatter_(1, of_rows(value_columns_), value);
    shown.scatter_(1, which.unsqueeze(1).expand({rows, 1}), 1);
  }
}

void OrderlessNade::walk(std::int64_t rows, const at::Tensor& orders, const Visit& visit) const {
  const c10::NoGradGuard without_gradient;
  if (structure_.refinements > 1) return walk_by_passes(rows, orders, visit);
  const bool shared = orders.size(0) == 1;
  const at::Tensor &weights = parameters_[deep_weights(0)], &shows = parameters_[shown_weights],
                   outputs = parameters_[last_weights].t().contiguous(), &bias = parameters_[last_bias];
  at::Tensor total = parameters_[deep_bias(0)].repeat({rows, 1});
  for (std::int64_t step = 0; step < visible_->variables(); ++step) {
    const at::Tensor which = orders.select(1, step).contiguous();
    at::Tensor values = activate(structure_.activation, total);
    for (std::size_t l = 1; l < structure_.hidden.size(); ++l)
      values =
          activate(structure_.activation, at::addmm(parameters_[deep_bias(l)], values, parameters_[deep_weights(l)]));
    const at::Tensor columns = raw_columns_.index_select(0, which);  // 1 or rows × columns of raw
    const at::Tensor flat = columns.reshape({-1});
    at::Tensor raw;
    if (shared)
      raw = at::addmm(bias.index_select(0, flat), values, outputs.index_select(0, flat).t());
    else
      raw = (outputs.index_select(0, flat).reshape({rows, columns.size(1), -1}) * values.unsqueeze(1)).sum(2) +
            bias.index_select(0, flat).reshape({rows, -1});
    const at::Tensor value = visit(step, which, raw);
    const at::Tensor inputs = value_columns_.index_select(0, which), flat_inputs = inputs.reshape({-1});
    if (shared)
      total.addmm_(value, weights.index_select(0, flat_inputs));
    else
      total.add_(
          (weights.index_select(0, flat_inputs).reshape({rows, inputs.size(1), -1}) * value.unsqueeze(2)).sum(1));
    total.add_(shows.index_select(0, which));
  }
}

at::Tensor OrderlessNade::log_conditionals(const at::Tensor& rows, const at::Tensor& order) const {
  const at::Tensor x = rows.to(options());
  at::Tensor result = at::empty({x.size(0), visible_->variables()}, x.options().dtype(at::kDouble));
  walk(x.size(0), order.to(x.device()).unsqueeze(0), [&](std::int64_t, const at::Tensor& which, const at::Tensor& raw) {
    const at::Tensor value = x.index_select(1, value_columns_.index_select(0, which).reshape({-1}));
    result.index_copy_(1, which, one_->log_prob(value, raw).unsqueeze(1));
    return value;
  });
  return result;
}

at::Tensor OrderlessNade::ordered_raw(const at::Tensor& rows, const at::Tensor& order) const {
  const at::Tensor x = rows.to(options());
  at::Tensor result = at::empty({x.size(0), visible_->raw_width()}, x.options());
  walk(x.size(0), order.to(x.device()).unsqueeze(0), [&](std::int64_t, const at::Tensor& which, const at::Tensor& raw) {
    result.index_copy_(1, raw_columns_.index_select(0, which).reshape({-1}), raw);
    return x.index_select(1, value_columns_.index_select(0, which).reshape({-1}));
  });
  return result;
}

at::Tensor OrderlessNade::log_probabilities(
    const at::Tensor& rows, std::int64_t orders,
    const std::function<void(std::int64_t done, std::int64_t total)>& done) const {
  if (orders == 0) orders = structure_.orders;
  const at::Tensor x = rows.to(options());
  std::vector<at::Tensor> blocks;
  for (std::int64_t first = 0; first < x.size(0); first += orderless_rows_at_once) {
    const at::Tensor block = x.narrow(0, first, std::min(orderless_rows_at_once, x.size(0) - first));
    std::vector<at::Tensor> each;
    for (std::int64_t number = 0; number < orders; ++number) {
      each.push_back(log_conditionals(block, order(number)).sum(1));
      if (done) done(first * orders + (number + 1) * block.size(0), x.size(0) * orders);
    }
    blocks.push_back(at::logsumexp(at::stack(each), 0) - std::log(static_cast<double>(orders)));
  }
  return blocks.empty() ? at::empty({0}, x.options().dtype(at::kDouble)) : at::cat(blocks);
}

OrderedDraw OrderlessNade::draw_along(const Key& key, const at::Tensor& known, const at::Tensor& orders) const {
  const std::int64_t rows = known.size(0);
  OrderedDraw result{.values = known.clone(), .means = known.clone()};
  walk(rows, orders, [&](std::int64_t step, const at::Tensor& which, const at::Tensor& raw) {
    const at::Tensor columns = value_columns_.index_select(0, which);  // rows × columns of a value
    const at::Tensor given = known.gather(1, columns), free = given.isnan();
    const at::Tensor drawn = one_->sample(key.fold_in(static_cast<std::uint64_t>(step)), raw.contiguous());
    const at::Tensor value = at::where(free, drawn, given);
    result.values.scatter_(1, columns, value);
    result.means.scatter_(1, columns, at::where(free, one_->mean(raw), given));
    return value;
  });
  return result;
}

OrderedDraw OrderlessNade::sample(const Key& key, std::int64_t count) const {
  require(count >= 0, "{} rows cannot be drawn", count);
  std::vector<at::Tensor> all;
  for (std::int64_t number = 0; number < structure_.orders; ++number) all.push_back(order(number));
  const at::Tensor chosen =
      (uniform(key.fold_in(0), {count}, at::kDouble) * static_cast<double>(structure_.orders)).to(at::kLong);
  const at::Tensor orders = at::stack(all).index_select(0, chosen).to(options().device());
  const at::Tensor nothing = at::full({count, visible_->width()}, std::nan(""), options());
  return draw_along(key.fold_in(1), nothing, orders);
}

OrderedDraw OrderlessNade::complete(const Key& key, const at::Tensor& known) const {
  require(known.dim() == 2 && known.size(1) == visible_->width() && known.size(0) >= 1,
          "an orderless NADE of {} completes rows of {} values", structure_.visible, visible_->width());
  const at::Tensor rows = known.to(options());
  const at::Tensor free = rows.isnan().reshape({rows.size(0), visible_->variables(), -1}).any(2);
  // A variable of which a part is free is free.
  const at::Tensor cleaned =
      at::where(free.repeat_interleave(value_columns_.size(1), 1), at::full({}, std::nan(""), options()), rows);
  const at::Tensor noise = uniform(key.fold_in(0), free.sizes(), options());
  const at::Tensor orders = std::get<1>(at::sort(noise + free.to(noise.scalar_type()), true, 1, false));
  return draw_along(key.fold_in(1), cleaned, orders);
}

void initialize(OrderlessNade& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.visible().width(),
          "an orderless NADE of {} begins at the means of {} columns, not of {}", net.visible().spec(),
          net.visible().width(), data_means.numel());
  for (std::uint64_t stream = 0; const auto& [name, value] : net.parameters().entries()) {
    at::Tensor tensor = value;
    ++stream;
    if (!name.ends_with(".weights")) {
      tensor.zero_();
      continue;
    }
    const double limit = std::sqrt(6.0 / static_cast<double>(tensor.size(0) + tensor.size(1)));
    tensor.copy_(uniform(key.fold_in(stream), tensor.sizes(), tensor.options()).mul_(2 * limit).sub_(limit));
  }
  at::Tensor& bias = net.parameters()[last_bias];
  bias.copy_(net.visible().raw_of_means(data_means.to(bias.options())));
  if (net.structure().refinements > 1) net.parameters()[first_guess].copy_(data_means);
}

}  // namespace harmonium
