#include "harmonium/models/directed/vae.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/nets/dense.h"

namespace harmonium {

namespace {

constexpr const char* shared_columns = "visible.shared";

std::vector<std::int64_t> encoder_widths(const VaeStructure& structure, const Distribution& visible,
                                         const Distribution& latent) {
  std::vector<std::int64_t> widths = {visible.width()};
  widths.insert(widths.end(), structure.hidden.begin(), structure.hidden.end());
  widths.push_back(latent.raw_width());
  return widths;
}

std::vector<std::int64_t> decoder_widths(const VaeStructure& structure, const Distribution& visible) {
  std::vector<std::int64_t> widths = {structure.latent};
  widths.insert(widths.end(), structure.hidden.rbegin(), structure.hidden.rend());
  widths.push_back(visible.raw_width() - visible.shared_width());
  return widths;
}

}  // namespace

Vae::Vae(VaeStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)), latent_(structure_.latent) {
  require(visible_->complaint_as_output().empty(), "the visible layer of a VAE: {}", visible_->complaint_as_output());
  require(structure_.activation != Activation::softmax,
          "hidden layers of a VAE cannot be softmax; choose tanh, relu, elu, logistic or linear");
  encoder_ = std::make_shared<Dense>("encoder.", encoder_widths(structure_, *visible_, latent_), structure_.activation);
  decoder_ = std::make_shared<Dense>("decoder.", decoder_widths(structure_, *visible_), structure_.activation);
  encoder_->declare(parameters_, type);
  decoder_->declare(parameters_, type);
  if (visible_->shared_width() > 0) parameters_.insert(shared_columns, at::zeros({visible_->shared_width()}, type));
}

Vae Vae::with_parameters(Moments parameters) const {
  Vae other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

Vae Vae::to(const at::TensorOptions& options) const { return with_parameters(parameters_.to(options).clone()); }

Vae::Posterior Vae::encode(const at::Tensor& rows) const {
  const at::Tensor raw = posterior_raw(parameters_, rows);
  return {.means = latent_.mean(raw), .log_deviations = latent_.log_deviation(raw)};
}

at::Tensor Vae::decode(const at::Tensor& latents) const { return visible_->mean(visible_raw(parameters_, latents)); }

at::Tensor Vae::reconstruct(const at::Tensor& rows) const { return decode(encode(rows).means); }

Dream Vae::sample(const Key& key, std::int64_t count) const { return dream(parameters_, count, key); }

at::Tensor Vae::posterior_raw(const Moments& parameters, const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == visible_->width(), "a VAE of {} takes rows of {} values, not of {}",
          visible_->spec(), visible_->width(), rows.dim() == 2 ? rows.size(1) : -1);
  return encoder_->forward(parameters, rows);
}

at::Tensor Vae::visible_raw(const Moments& parameters, const at::Tensor& latents) const {
  const at::Tensor made = decoder_->forward(parameters, latents);
  if (visible_->shared_width() == 0) return made;
  std::vector<std::int64_t> shape = made.sizes().vec();
  shape.back() = visible_->shared_width();
  return at::cat({made, parameters[shared_columns].expand(shape)}, -1);
}

at::Tensor Vae::prior_raw(const Moments& parameters) const {
  return at::zeros({latent_.raw_width()}, parameters[encoder_->output_bias()].options());
}

Trace Vae::scored(const Moments& parameters, const at::Tensor& rows, const at::Tensor& raw,
                  const at::Tensor& latents) const {
  return {.latents = {latents},
          .log_p = {visible_->log_prob(rows.unsqueeze(1), visible_raw(parameters, latents)),
                    latent_.log_prob(latents, prior_raw(parameters))},
          .log_q = {latent_.log_prob(latents, raw.unsqueeze(1))}};
}

Trace Vae::infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                 std::int64_t first_draw) const {
  require(draws >= 1, "inference in a VAE needs at least one draw of each row, not {}", draws);
  const at::Tensor raw = posterior_raw(parameters, rows);
  std::vector<at::Tensor> drawn;
  for (std::int64_t draw = first_draw; draw < first_draw + draws; ++draw)
    drawn.push_back(latent_.reparametrized(key.fold_in(static_cast<std::uint64_t>(draw)), raw));
  return scored(parameters, rows, raw, at::stack(drawn, 1));
}

Trace Vae::score(const Moments& parameters, const at::Tensor& rows, const std::vector<at::Tensor>& latents) const {
  require(latents.size() == 1, "a VAE has one layer of latent variables, not {}", latents.size());
  const at::Tensor& z = latents.front();
  require(z.dim() == 3 && z.size(0) == rows.size(0) && z.size(2) == latent_.width(),
          "latents of a VAE are rows × draws × {}, with as many rows as the data ({})", latent_.width(), rows.size(0));
  return scored(parameters, rows, posterior_raw(parameters, rows), z);
}

Dream Vae::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  require(count >= 0, "a VAE cannot draw {} rows", count);
  const at::Tensor z = latent_.sample(key.fold_in(0), prior_raw(parameters).expand({count, latent_.raw_width()}));
  const at::Tensor raw = visible_raw(parameters, z);
  return {.visible = visible_->sample(key.fold_in(1), raw), .means = visible_->mean(raw), .latents = {z}};
}

void initialize(Vae& vae, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == vae.visible().width(),
          "a VAE of {} begins at the means of {} columns, not of {}", vae.visible().spec(), vae.visible().width(),
          data_means.dim() == 1 ? data_means.size(0) : -1);
  Moments& parameters = vae.parameters();
  vae.encoder().initialize(parameters, key.fold_in(0));
  vae.decoder().initialize(parameters, key.fold_in(1));
  at::Tensor& bias = parameters[vae.decoder().output_bias()];
  bias.copy_(vae.visible().raw_of_means(data_means.to(bias.options())));
  if (parameters.contains(shared_columns)) parameters[shared_columns].zero_();
}

}  // namespace harmonium
