#include "harmonium/models/autoregressive/masked_net.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/autoregressive/nade.h"

namespace harmonium {

namespace {

constexpr const char* direct_weights = "direct.weights";
constexpr const char* output_weights = "output.weights";
constexpr const char* output_bias = "output.bias";
constexpr std::int64_t masked_rows_at_once = 2048;

std::string hidden_weights(std::size_t layer) { return format("layer{}.weights", layer + 1); }
std::string hidden_bias(std::size_t layer) { return format("layer{}.bias", layer + 1); }

at::Tensor indices(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }

// With columns of zeros on the right.
at::Tensor padded(const at::Tensor& weights, std::int64_t columns) {
  return weights.size(1) == columns ? weights : at::constant_pad_nd(weights, {0, columns - weights.size(1)});
}

}  // namespace

MaskedNet::MaskedNet(MaskedNetStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)) {
  require(visible_->shared_width() == 0, "{} has a parameter that belongs to no variable; take gaussian:N:FLOOR",
          structure_.visible);
  require(structure_.masks >= 1, "a masked net needs at least one mask, not {}", structure_.masks);
  require(structure_.group >= 0, "groups of a masked net have hidden units, not {}", structure_.group);
  if (structure_.group > 0) {
    const std::vector<std::int64_t> layer = {(visible_->variables() - 1) * structure_.group};
    require(visible_->variables() >= 2, "groups of hidden units need at least two variables, not {}",
            visible_->variables());
    require(structure_.masks == 1 && (structure_.hidden.empty() || structure_.hidden == layer),
            "groups of {} units are one hidden layer of {} units with one mask", structure_.group, layer.front());
    structure_.hidden = layer;
  }
  require(!structure_.hidden.empty() || structure_.direct,
          "a masked net without hidden layers needs weights from inputs to outputs");
  one_ = visible_->of_one_variable();
  (void)parse_order(structure_.order, visible_->variables());
  std::int64_t below = visible_->width();
  for (std::size_t l = 0; l < structure_.hidden.size(); ++l) {
    const std::int64_t width = structure_.hidden[l];
    require(width >= 1, "hidden layer {} of a masked net has {} units; every layer needs at least one", l + 1, width);
    parameters_.insert(hidden_weights(l), at::zeros({below, width}, type));
    parameters_.insert(hidden_bias(l), at::zeros({width}, type));
    below = width;
  }
  const std::int64_t outputs = visible_->raw_width();
  if (!structure_.hidden.empty()) parameters_.insert(output_weights, at::zeros({below, outputs}, type));
  if (structure_.direct)
    parameters_.insert(direct_weights,
                       at::zeros({visible_->width(), structure_.constant_spread ? visible_->width() : outputs}, type));
  parameters_.insert(output_bias, at::zeros({outputs}, type));
  for (std::int64_t mask = 0; mask < structure_.masks; ++mask) degrees_.push_back(degrees_of(mask));
}

MaskedNet MaskedNet::with_parameters(Moments parameters) const {
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(), "parameter {} does not fit this masked net", name);
  MaskedNet other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

MaskedNet MaskedNet::to(const at::TensorOptions& options) const {
  MaskedNet other = *this;
  other.parameters_ = parameters_.to(options).clone();
  const at::Device device = other.parameters_[output_bias].device();
  for (Degrees& each : other.degrees_) {
    each.inputs = each.inputs.to(device);
    each.outputs = each.outputs.to(device);
    for (at::Tensor& layer : each.hidden) layer = layer.to(device);
  }
  return other;
}

std::vector<std::int64_t> MaskedNet::order(std::int64_t mask) const {
  const std::int64_t variables = visible_->variables();
  const std::string random = "random:";
  if (mask == 0 || !structure_.order.starts_with(random)) return parse_order(structure_.order, variables);
  const Key key = Key(std::stoull(structure_.order.substr(random.size()))).fold_in(static_cast<std::uint64_t>(mask));
  return parse_order(format("random:{}", key.bits()), variables);
}

MaskedNet::Degrees MaskedNet::degrees_of(std::int64_t mask) const {
  const std::int64_t variables = visible_->variables(), highest = std::max<std::int64_t>(1, variables - 1);
  const at::Tensor places = indices(order(mask)).argsort() + 1;  // of variables
  Degrees result{.inputs = places.index_select(0, indices(visible_->value_variables())),
                 .outputs = places.index_select(0, indices(visible_->raw_variables())),
                 .hidden = {}};
  const Key key = Key(structure_.seed).fold_in(static_cast<std::uint64_t>(mask));
  if (structure_.group > 0) {
    result.hidden.push_back(at::arange(variables - 1, at::kLong).repeat_interleave(structure_.group) + 1);
    return result;
  }
  std::int64_t least = 1;
  for (std::size_t l = 0; l < structure_.hidden.size(); ++l) {
    const std::int64_t width = structure_.hidden[l], choices = highest - least + 1;
    const at::Tensor share = structure_.masks == 1 ? at::arange(width, at::kDouble) / static_cast<double>(width)
                                                   : uniform(key.fold_in(l), {width}, at::kDouble);
    result.hidden.push_back(least + (share * static_cast<double>(choices)).to(at::kLong));
    least = result.hidden.back().min().item<std::int64_t>();
  }
  return result;
}

at::Tensor MaskedNet::filters(std::int64_t mask) const {
  const Degrees& degrees = degrees_.at(static_cast<std::size_t>(mask));
  require(!degrees.hidden.empty(), "a masked net without hidden layers has no filters");
  return parameters_[hidden_weights(0)] * degrees.hidden.front().ge(degrees.inputs.unsqueeze(1));
}

at::Tensor MaskedNet::raw(const Moments& parameters, const at::Tensor& rows, std::int64_t mask) const {
  require(rows.dim() == 2 && rows.size(1) == visible_->width(), "a masked net of {} takes rows of {} values, not of {}",
          structure_.visible, visible_->width(), rows.dim() == 2 ? rows.size(1) : -1);
  const Degrees& degrees = degrees_.at(static_cast<std::size_t>(mask));
  const at::Device device = rows.device();
  at::Tensor values = rows, below = degrees.inputs.to(device).unsqueeze(1);
  for (std::size_t l = 0; l < structure_.hidden.size(); ++l) {
    const at::Tensor here = degrees.hidden[l].to(device);
    values = activate(structure_.activation,
                      at::addmm(parameters[hidden_bias(l)], values, parameters[hidden_weights(l)] * here.ge(below)));
    below = here.unsqueeze(1);
  }
  const at::Tensor places = degrees.outputs.to(device);
  at::Tensor result = parameters[output_bias];
  if (!structure_.hidden.empty()) result = at::addmm(result, values, parameters[output_weights] * places.gt(below));
  if (structure_.direct) {
    const at::Tensor& weights = parameters[direct_weights];
    const at::Tensor allowed = places.narrow(0, 0, weights.size(1)).gt(degrees.inputs.to(device).unsqueeze(1));
    result = at::addmm(result, rows, padded(weights * allowed, visible_->raw_width()));
  }
  return result;
}

at::Tensor MaskedNet::log_prob(const Moments& parameters, const at::Tensor& rows, std::int64_t mask) const {
  return visible_->log_prob(rows, raw(parameters, rows, mask));
}

at::Tensor MaskedNet::log_probabilities(const at::Tensor& rows) const {
  const c10::NoGradGuard without_gradient;
  const at::Tensor x = rows.to(parameters_[output_bias].options());
  std::vector<at::Tensor> blocks;
  for (std::int64_t first = 0; first < x.size(0); first += masked_rows_at_once) {
    const at::Tensor block = x.narrow(0, first, std::min(masked_rows_at_once, x.size(0) - first));
    std::vector<at::Tensor> each;
    for (std::int64_t mask = 0; mask < masks(); ++mask) each.push_back(log_prob(parameters_, block, mask));
    blocks.push_back(masks() == 1 ? each.front()
                                  : at::logsumexp(at::stack(each), 0) - std::log(static_cast<double>(masks())));
  }
  return blocks.empty() ? at::empty({0}, x.options().dtype(at::kDouble)) : at::cat(blocks);
}

OrderedDraw MaskedNet::walk(const Key& key, const at::Tensor& rows, std::int64_t mask, std::int64_t first) const {
  const c10::NoGradGuard without_gradient;
  const Degrees& degrees = degrees_.at(static_cast<std::size_t>(mask));
  const std::int64_t variables = visible_->variables(), columns = visible_->width() / variables,
                     raw_columns = visible_->raw_width() / variables;
  // Columns and units sorted by degree, and how many have one of at most t: what may be seen is then a prefix.
  const auto sorted = [](const at::Tensor& of) { return std::get<1>(at::sort(of, true, 0, false)); };
  const at::Tensor inputs = sorted(degrees.inputs), outputs = sorted(degrees.outputs);
  std::vector<at::Tensor> weights, biases, values;
  std::vector<std::vector<std::int64_t>> known;  // of each hidden layer, by t
  at::Tensor below = inputs;
  for (std::size_t l = 0; l < structure_.hidden.size(); ++l) {
    const at::Tensor here = sorted(degrees.hidden[l]);
    weights.push_back(parameters_[hidden_weights(l)].index_select(0, below).index_select(1, here));
    biases.push_back(parameters_[hidden_bias(l)].index_select(0, here));
    values.push_back(at::zeros({rows.size(0), structure_.hidden[l]}, rows.options()));
    const at::Tensor counts = at::bincount(degrees.hidden[l].cpu(), {}, variables + 1).cumsum(0);
    known.emplace_back(counts.data_ptr<std::int64_t>(), counts.data_ptr<std::int64_t>() + variables);
    below = here;
  }
  at::Tensor top, direct;
  if (!structure_.hidden.empty()) top = parameters_[output_weights].index_select(0, below).index_select(1, outputs);
  if (structure_.direct)
    direct =
        padded(parameters_[direct_weights], visible_->raw_width()).index_select(0, inputs).index_select(1, outputs);
  const at::Tensor bias = parameters_[output_bias].index_select(0, outputs);

  at::Tensor x = rows.index_select(1, inputs), means = x.clone();
  for (std::int64_t t = 0; t < variables; ++t) {
    const auto at_t = static_cast<std::size_t>(t);
    for (std::size_t l = 0; l < values.size() && t > 0; ++l) {
      const std::int64_t from = known[l][at_t - 1], count = known[l][at_t] - from;
      if (count == 0) continue;
      const std::int64_t seen = l == 0 ? t * columns : known[l - 1][at_t];
      const at::Tensor total =
          at::addmm(biases[l].narrow(0, from, count), (l == 0 ? x : values[l - 1]).narrow(1, 0, seen),
                    weights[l].narrow(0, 0, seen).narrow(1, from, count));
      values[l].narrow(1, from, count).copy_(activate(structure_.activation, total));
    }
    if (t < first) continue;
    const std::int64_t raw_from = t * raw_columns;
    at::Tensor raw = bias.narrow(0, raw_from, raw_columns).repeat({x.size(0), 1});
    if (top.defined() && t > 0) {
      const std::int64_t seen = known.back()[at_t];
      raw.addmm_(values.back().narrow(1, 0, seen), top.narrow(0, 0, seen).narrow(1, raw_from, raw_columns));
    }
    if (direct.defined() && t > 0)
      raw.addmm_(x.narrow(1, 0, t * columns), direct.narrow(0, 0, t * columns).narrow(1, raw_from, raw_columns));
    x.narrow(1, t * columns, columns).copy_(one_->sample(key.fold_in(static_cast<std::uint64_t>(t)), raw));
    means.narrow(1, t * columns, columns).copy_(one_->mean(raw));
  }
  const at::Tensor back = inputs.argsort();
  return {.values = x.index_select(1, back), .means = means.index_select(1, back)};
}

OrderedDraw MaskedNet::sample(const Key& key, std::int64_t count) const {
  require(count >= 0, "{} rows cannot be drawn", count);
  const at::Tensor rows = at::zeros({count, visible_->width()}, parameters_[output_bias].options());
  if (masks() == 1) return walk(key.fold_in(0), rows, 0, 0);
  const at::Tensor chosen =
      (uniform(key.fold_in(1), {count}, at::kDouble) * static_cast<double>(masks())).to(at::kLong);
  OrderedDraw result{.values = rows, .means = rows.clone()};
  for (std::int64_t mask = 0; mask < masks(); ++mask) {
    const at::Tensor mine = chosen.eq(mask).nonzero().select(1, 0).to(rows.device());
    if (mine.size(0) == 0) continue;
    const OrderedDraw drawn =
        walk(key.fold_in(2).fold_in(static_cast<std::uint64_t>(mask)), rows.index_select(0, mine), mask, 0);
    result.values.index_copy_(0, mine, drawn.values);
    result.means.index_copy_(0, mine, drawn.means);
  }
  return result;
}

OrderedDraw MaskedNet::complete(const Key& key, const at::Tensor& known) const {
  require(masks() == 1,
          "a net of {} masks is a mixture of orders and draws no variables given others; train one with @masks 1, or "
          "an orderless_nade",
          masks());
  require(known.dim() == 2 && known.size(1) == visible_->width() && known.size(0) >= 1,
          "a masked net of {} completes rows of {} values", structure_.visible, visible_->width());
  const std::int64_t first = first_free_place(known, order(0));
  const at::Tensor rows = at::nan_to_num(known.to(parameters_[output_bias].options()));
  return walk(key, rows, 0, first);
}

void initialize(MaskedNet& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.visible().width(),
          "a masked net of {} begins at the means of {} columns, not of {}", net.visible().spec(),
          net.visible().width(), data_means.numel());
  for (std::uint64_t stream = 0; const auto& [name, value] : net.parameters().entries()) {
    at::Tensor tensor = value;
    ++stream;
    if (!name.ends_with(".weights") || name == direct_weights) {
      tensor.zero_();
      continue;
    }
    const double limit = std::sqrt(6.0 / static_cast<double>(tensor.size(0) + tensor.size(1)));
    tensor.copy_(uniform(key.fold_in(stream), tensor.sizes(), tensor.options()).mul_(2 * limit).sub_(limit));
  }
  at::Tensor& bias = net.parameters()[output_bias];
  bias.copy_(net.visible().raw_of_means(data_means.to(bias.options())));
}

}  // namespace harmonium
