#include "harmonium/models/directed/vae.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/nets/dense.h"

namespace harmonium {

namespace {

constexpr const char* shared_columns = "visible.shared";

// "encoder.", "encoder2.", …
std::string prefix_of(const char* net, std::size_t level) {
  return level == 0 ? format("{}.", net) : format("{}{}.", net, level + 1);
}

std::vector<std::int64_t> with_ends(std::int64_t first, std::vector<std::int64_t> between, std::int64_t last) {
  between.insert(between.begin(), first);
  between.push_back(last);
  return between;
}

}  // namespace

std::vector<VaeLevel> VaeStructure::levels() const {
  std::vector<VaeLevel> all = {{.hidden = hidden, .latent = latent}};
  all.insert(all.end(), above.begin(), above.end());
  return all;
}

Vae::Vae(VaeStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)) {
  require(visible_->complaint_as_output().empty(), "the visible layer of a VAE: {}", visible_->complaint_as_output());
  require(structure_.activation != Activation::softmax,
          "hidden layers of a VAE cannot be softmax; choose tanh, relu, elu, logistic or linear");
  std::int64_t below = visible_->width(), below_raw = visible_->raw_width() - visible_->shared_width();
  for (const VaeLevel& each : structure_.levels()) {
    const std::size_t level = latent_.size();
    latent_.emplace_back(each.latent);
    const std::string encoder = prefix_of("encoder", level), decoder = prefix_of("decoder", level);
    if (level == 0 && structure_.picture) {
      const PictureNetShape& picture = *structure_.picture;
      require(picture.complaint().empty() && picture.height * picture.width == visible_->width(),
              "pictures of {} × {} pixels are no rows of {}", picture.height, picture.width, visible_->spec());
      up_.push_back(std::make_shared<PictureEncoder>(encoder, picture, latent_.back().raw_width()));
      down_.push_back(std::make_shared<PictureDecoder>(decoder, picture, each.latent, below_raw / below));
    } else {
      const std::vector<std::int64_t> mirrored(each.hidden.rbegin(), each.hidden.rend());
      up_.push_back(std::make_shared<Dense>(encoder, with_ends(below, each.hidden, latent_.back().raw_width()),
                                            structure_.activation));
      down_.push_back(
          std::make_shared<Dense>(decoder, with_ends(each.latent, mirrored, below_raw), structure_.activation));
    }
    up_.back()->declare(parameters_, type);
    down_.back()->declare(parameters_, type);
    below = each.latent;
    below_raw = latent_.back().raw_width();
  }
  if (visible_->shared_width() > 0) parameters_.insert(shared_columns, at::zeros({visible_->shared_width()}, type));
}

Vae Vae::with_parameters(Moments parameters) const {
  Vae other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

Vae Vae::to(const at::TensorOptions& options) const { return with_parameters(parameters_.to(options).clone()); }

Vae::Posterior Vae::encode(const at::Tensor& rows, std::size_t level) const {
  at::Tensor raw = posterior_raw(parameters_, rows);
  for (std::size_t l = 1; l <= level; ++l) raw = posterior_raw(parameters_, latent(l - 1).mean(raw), l);
  return {.means = latent(level).mean(raw), .log_deviations = latent(level).log_deviation(raw)};
}

at::Tensor Vae::decode(const at::Tensor& latents) const { return visible_->mean(visible_raw(parameters_, latents)); }

at::Tensor Vae::reconstruct(const at::Tensor& rows) const { return decode(encode(rows).means); }

Dream Vae::sample(const Key& key, std::int64_t count) const { return dream(parameters_, count, key); }

at::Tensor Vae::posterior_raw(const Moments& parameters, const at::Tensor& below, std::size_t level) const {
  if (level == 0)
    require(below.dim() == 2 && below.size(1) == visible_->width(), "a VAE of {} takes rows of {} values, not of {}",
            visible_->spec(), visible_->width(), below.dim() == 2 ? below.size(1) : -1);
  return up(level).forward(parameters, below);
}

at::Tensor Vae::visible_raw(const Moments& parameters, const at::Tensor& latents) const {
  const at::Tensor made = down_.front()->forward(parameters, latents);
  if (visible_->shared_width() == 0) return made;
  std::vector<std::int64_t> shape = made.sizes().vec();
  shape.back() = visible_->shared_width();
  return at::cat({made, parameters[shared_columns].expand(shape)}, -1);
}

at::Tensor Vae::prior_raw(const Moments& parameters, std::size_t level, const at::Tensor& above) const {
  if (level + 1 < levels()) return down(level + 1).forward(parameters, above);
  return at::zeros({latent(level).raw_width()}, parameters[up_.front()->output_bias()].options());
}

Trace Vae::scored(const Moments& parameters, const at::Tensor& rows, const std::vector<at::Tensor>& raws,
                  const std::vector<at::Tensor>& latents) const {
  Trace trace{.latents = latents,
              .log_p = {visible_->log_prob(rows.unsqueeze(1), visible_raw(parameters, latents.front()))},
              .log_q = {}};
  for (std::size_t l = 0; l < levels(); ++l) {
    const at::Tensor above = l + 1 < levels() ? latents[l + 1] : at::Tensor();
    trace.log_p.push_back(latent(l).log_prob(latents[l], prior_raw(parameters, l, above)));
    trace.log_q.push_back(latent(l).log_prob(latents[l], raws[l]));
  }
  return trace;
}

Trace Vae::infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                 std::int64_t first_draw) const {
  require(draws >= 1, "inference in a VAE needs at least one draw of each row, not {}", draws);
  std::vector<at::Tensor> raws, latents;
  for (std::size_t l = 0; l < levels(); ++l) {
    // All draws of a row see the same data, so that the first net is asked once.
    const at::Tensor raw = posterior_raw(parameters, l == 0 ? rows : latents.back(), l);
    std::vector<at::Tensor> drawn;
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      const Key own = key.fold_in(static_cast<std::uint64_t>(first_draw + draw));
      drawn.push_back(latent(l).reparametrized(l == 0 ? own : own.fold_in(l), l == 0 ? raw : raw.select(1, draw)));
    }
    raws.push_back(l == 0 ? raw.unsqueeze(1) : raw);
    latents.push_back(at::stack(drawn, 1));
  }
  return scored(parameters, rows, raws, latents);
}

Trace Vae::score(const Moments& parameters, const at::Tensor& rows, const std::vector<at::Tensor>& latents) const {
  require(latents.size() == levels(), "a VAE with {} layer{} of latent variables was given latents of {}", levels(),
          levels() == 1 ? "" : "s", latents.size());
  std::vector<at::Tensor> raws;
  for (std::size_t l = 0; l < levels(); ++l) {
    const at::Tensor& z = latents[l];
    require(z.dim() == 3 && z.size(0) == rows.size(0) && z.size(2) == latent(l).width(),
            "latents of a VAE are rows × draws × {}, with as many rows as the data ({})", latent(l).width(),
            rows.size(0));
    raws.push_back(l == 0 ? posterior_raw(parameters, rows).unsqueeze(1)
                          : posterior_raw(parameters, latents[l - 1], l));
  }
  return scored(parameters, rows, raws, latents);
}

Dream Vae::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  require(count >= 0, "a VAE cannot draw {} rows", count);
  const std::size_t top = levels() - 1;
  std::vector<at::Tensor> latents(levels());
  latents[top] = latent(top).sample(key.fold_in(0), prior_raw(parameters, top, {}).expand({count, -1}));
  for (std::size_t l = top; l-- > 0;)
    latents[l] = latent(l).sample(key.fold_in(2 + l), prior_raw(parameters, l, latents[l + 1]));
  const at::Tensor raw = visible_raw(parameters, latents.front());
  return {
      .visible = visible_->sample(key.fold_in(1), raw), .means = visible_->mean(raw), .latents = std::move(latents)};
}

std::int64_t Vae::noise_width() const {
  std::int64_t width = 0;
  for (const GaussianDistribution& each : latent_) width += each.width();
  return width;
}

std::vector<at::Tensor> Vae::latents(const Moments& parameters, const at::Tensor& noise) const {
  require(noise.dim() >= 1 && noise.size(-1) == noise_width(), "the noise of a VAE has {} columns, not {}",
          noise_width(), noise.dim() >= 1 ? noise.size(-1) : 0);
  std::vector<at::Tensor> made(levels());
  std::int64_t end = noise_width();
  for (std::size_t l = levels(); l-- > 0;) {
    end -= latent(l).width();
    const at::Tensor own = noise.narrow(-1, end, latent(l).width());
    if (l + 1 == levels()) {
      made[l] = own;
      continue;
    }
    const at::Tensor raw = prior_raw(parameters, l, made[l + 1]);
    made[l] = latent(l).mean(raw) + latent(l).log_deviation(raw).exp() * own;
  }
  return made;
}

at::Tensor Vae::noise(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  std::vector<at::Tensor> parts;
  for (std::size_t l = 0; l < levels(); ++l) {
    if (l + 1 == levels()) {
      parts.push_back(latents[l]);
      continue;
    }
    const at::Tensor raw = prior_raw(parameters, l, latents[l + 1]);
    parts.push_back((latents[l] - latent(l).mean(raw)) * at::exp(-latent(l).log_deviation(raw)));
  }
  return at::cat(parts, -1);
}

at::Tensor Vae::means(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  return visible_->mean(visible_raw(parameters, latents.front()));
}

at::Tensor Vae::log_likelihood(const Moments& parameters, const at::Tensor& rows,
                               const std::vector<at::Tensor>& latents) const {
  return visible_->log_prob(rows.unsqueeze(1), visible_raw(parameters, latents.front()));
}

void initialize(Vae& vae, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == vae.visible().width(),
          "a VAE of {} begins at the means of {} columns, not of {}", vae.visible().spec(), vae.visible().width(),
          data_means.dim() == 1 ? data_means.size(0) : -1);
  Moments& parameters = vae.parameters();
  for (std::size_t l = 0; l < vae.levels(); ++l) {
    vae.up(l).initialize(parameters, key.fold_in(2 * l));
    vae.down(l).initialize(parameters, key.fold_in(2 * l + 1));
  }
  at::Tensor& bias = parameters[vae.down(0).output_bias()];
  bias.copy_(vae.visible().raw_of_means(data_means.to(bias.options())));
  if (parameters.contains(shared_columns)) parameters[shared_columns].zero_();
}

}  // namespace harmonium
