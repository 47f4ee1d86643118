#include "harmonium/models/directed/layer_law.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/autoregressive/conditional_nade.h"

namespace harmonium {

namespace {

// Units whose log-odds are kept up to date one by one; what they say of later ones is one product.
constexpr std::int64_t law_block = 32;

// Log-odds a (units × rows) become values, one unit after the other.
at::Tensor walk_down(const at::Tensor& earlier, at::Tensor a, const at::Tensor& u) {
  const std::int64_t units = a.size(0);
  at::Tensor y = at::empty_like(a);
  for (std::int64_t first = 0; first < units; first += law_block) {
    const std::int64_t end = std::min(units, first + law_block);
    for (std::int64_t k = first; k < end; ++k) {
      at::Tensor value = y[k];
      const at::Tensor mean = a[k].sigmoid();
      value.copy_(u.defined() ? u[k].lt(mean) : mean);
      if (k + 1 < end) a.narrow(0, k + 1, end - k - 1).addr_(earlier[k].narrow(0, k + 1, end - k - 1), value);
    }
    if (end < units)
      a.narrow(0, end, units - end)
          .addmm_(earlier.narrow(0, first, end - first).narrow(1, end, units - end).t(),
                  y.narrow(0, first, end - first));
  }
  return y;
}

}  // namespace

const std::vector<LayerKindName>& layer_kinds() {
  static const std::vector<LayerKindName> kinds = {
      {.kind = LayerKind::factorial, .name = "factorial", .help = "units are independent given the other layer"},
      {.kind = LayerKind::autoregressive,
       .name = "autoregressive",
       .help = "each unit also sees those before it in its layer, by weights"},
      {.kind = LayerKind::nade, .name = "nade", .help = "each unit also sees those before it, by a NADE"},
  };
  return kinds;
}

const std::string& to_string(LayerKind kind) {
  return std::ranges::find(layer_kinds(), kind, &LayerKindName::kind)->name;
}

LayerKind parse_layer_kind(const std::string& text, const char* option) {
  return find_named(layer_kinds(), text, option).kind;
}

LayerLaw::LayerLaw(std::string prefix, LayerKind kind, std::shared_ptr<const Distribution> values, std::int64_t hidden)
    : prefix_(std::move(prefix)), kind_(kind), values_(std::move(values)) {
  require(hidden >= 0, "a NADE needs hidden units, not {}", hidden);
  if (kind_ == LayerKind::nade) hidden_ = hidden > 0 ? hidden : values_->width();
  require(kind_ == LayerKind::factorial || values_->spec().starts_with("bernoulli:"),
          "{} layers are of bits, and these values are {}", to_string(kind_), values_->spec());
}

void LayerLaw::declare(Moments& parameters, at::ScalarType type) const {
  const std::int64_t width = values_->width();
  if (kind_ == LayerKind::autoregressive)
    parameters.insert(prefix_ + "earlier.weights", at::zeros({width, width}, type));
  if (kind_ != LayerKind::nade) return;
  parameters.insert(prefix_ + "nade.encoder.weights", at::zeros({width, hidden_}, type));
  parameters.insert(prefix_ + "nade.decoder.weights", at::zeros({width, hidden_}, type));
}

void LayerLaw::initialize(Moments& parameters, const Key& key) const {
  if (kind_ == LayerKind::autoregressive) parameters[prefix_ + "earlier.weights"].zero_();
  if (kind_ != LayerKind::nade) return;
  const double limit = std::sqrt(6.0 / static_cast<double>(values_->width() + hidden_));
  for (std::uint64_t stream = 0; const char* name : {"nade.encoder.weights", "nade.decoder.weights"}) {
    at::Tensor& weights = parameters[prefix_ + name];
    weights.copy_(uniform(key.fold_in(stream++), weights.sizes(), weights.options()).mul_(2 * limit).sub_(limit));
  }
}

at::Tensor LayerLaw::given_earlier(const Moments& parameters, const at::Tensor& y, const at::Tensor& raw) const {
  if (kind_ == LayerKind::factorial) return raw;
  if (kind_ == LayerKind::autoregressive) return raw + y.matmul(parameters[prefix_ + "earlier.weights"].triu(1));
  const std::int64_t width = values_->width();
  std::vector<std::int64_t> shape = y.sizes().vec();
  for (std::int64_t i = 2; i <= raw.dim(); ++i) {
    std::int64_t& size = shape[shape.size() - static_cast<std::size_t>(i)];
    size = std::max(size, raw.size(-i));
  }
  const auto rows_of = [&](const at::Tensor& values) {
    shape.back() = values.size(-1);
    return values.expand(shape).reshape({-1, values.size(-1)});
  };
  const at::Tensor logits = conditional_nade_logits({.hidden_bias = rows_of(raw.narrow(-1, width, hidden_)),
                                                     .encoder = parameters[prefix_ + "nade.encoder.weights"],
                                                     .output_bias = rows_of(raw.narrow(-1, 0, width)),
                                                     .decoder = parameters[prefix_ + "nade.decoder.weights"]},
                                                    rows_of(y));
  shape.back() = width;
  return logits.reshape(shape);
}

at::Tensor LayerLaw::log_prob(const Moments& parameters, const at::Tensor& y, const at::Tensor& raw) const {
  return values_->log_prob(y, given_earlier(parameters, y, raw));
}

at::Tensor LayerLaw::means(const Moments& parameters, const at::Tensor& y, const at::Tensor& raw) const {
  return values_->mean(given_earlier(parameters, y, raw));
}

at::Tensor LayerLaw::nade_means(const Moments& parameters, const at::Tensor& raw) const {
  const std::int64_t width = values_->width();
  const at::Tensor &encoder = parameters[prefix_ + "nade.encoder.weights"],
                   &decoder = parameters[prefix_ + "nade.decoder.weights"];
  at::Tensor a = raw.narrow(1, width, hidden_).clone(), y = at::empty({raw.size(0), width}, raw.options());
  for (std::int64_t k = 0; k < width; ++k) {
    const at::Tensor mean = (at::mv(a.sigmoid(), decoder[k]) + raw.select(1, k)).sigmoid();
    y.select(1, k).copy_(mean);
    a.addr_(mean, encoder[k]);
  }
  return y;
}

at::Tensor LayerLaw::walk(const Moments& parameters, const at::Tensor& raw, const at::Tensor& u) const {
  if (kind_ == LayerKind::autoregressive)
    return walk_down(parameters[prefix_ + "earlier.weights"], raw.t().clone(at::MemoryFormat::Contiguous),
                     u.defined() ? u.t().contiguous() : u)
        .t()
        .contiguous();
  if (!u.defined()) return nade_means(parameters, raw);
  const std::int64_t width = values_->width();
  at::Tensor y = at::zeros({raw.size(0), width}, raw.options());
  nade_draw_({.hidden_bias = raw.narrow(1, width, hidden_),
              .encoder = parameters[prefix_ + "nade.encoder.weights"],
              .output_bias = raw.narrow(1, 0, width),
              .decoder = parameters[prefix_ + "nade.decoder.weights"]},
             y, u, 0);
  return y;
}

at::Tensor LayerLaw::sample(const Moments& parameters, const Key& key, const at::Tensor& raw) const {
  if (kind_ == LayerKind::factorial) return values_->sample(key, raw);
  const c10::NoGradGuard without_gradient;
  return walk(parameters, raw, uniform(key, {raw.size(0), values_->width()}, raw.options()));
}

at::Tensor LayerLaw::sample(const Moments& parameters, const std::vector<Key>& keys, const at::Tensor& raw) const {
  const c10::NoGradGuard without_gradient;
  const auto draws = static_cast<std::int64_t>(keys.size());
  const std::int64_t rows = raw.size(0);
  std::vector<at::Tensor> parts;
  for (std::int64_t k = 0; const Key& key : keys) {
    const std::int64_t draw = raw.size(1) == 1 ? 0 : k++;
    parts.push_back(kind_ == LayerKind::factorial ? values_->sample(key, raw.select(1, draw).contiguous())
                                                  : uniform(key, {rows, values_->width()}, raw.options()));
  }
  const at::Tensor all = at::stack(parts, 1);
  if (kind_ == LayerKind::factorial) return all;
  const at::Tensor each = raw.expand({rows, draws, raw.size(2)}).reshape({rows * draws, raw.size(2)});
  return walk(parameters, each, all.flatten(0, 1)).view({rows, draws, values_->width()});
}

at::Tensor LayerLaw::mean_walk(const Moments& parameters, const at::Tensor& raw) const {
  if (kind_ == LayerKind::factorial) return values_->mean(raw);
  const c10::NoGradGuard without_gradient;
  return walk(parameters, raw, {});
}

}  // namespace harmonium
