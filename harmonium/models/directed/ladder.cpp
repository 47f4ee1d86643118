#include "harmonium/models/directed/ladder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr const char* ladder_shared_columns = "visible.shared";

}  // namespace

LadderNetShape Ladder::net_shape(const LadderStructure& structure) {
  const auto distribution = make_distribution(structure.visible);
  const Distribution& visible = *distribution;
  const bool picture = structure.height > 0;
  const std::int64_t raw = visible.raw_width() - visible.shared_width();
  LadderNetShape shape{.channels = structure.channels, .blocks = structure.blocks, .levels = {}};
  if (picture) {
    require(structure.height * structure.width == visible.width() && raw % visible.width() == 0,
            "pictures of {} × {} pixels are no rows of {}", structure.height, structure.width, visible.spec());
    require(structure.scales.size() == structure.latent.size(),
            "{} levels of latent variables at {} scales: give a scale for each level", structure.latent.size(),
            structure.scales.size());
    shape.outputs = raw / visible.width();
    shape.height = structure.height;
    shape.width = structure.width;
    shape.kernel = structure.kernel;
  } else {
    shape.inputs = visible.width();
    shape.outputs = raw;
    shape.kernel = 1;
  }
  for (std::size_t l = 0; l < structure.latent.size(); ++l)
    shape.levels.push_back({.latent = structure.latent[l], .scale = picture ? structure.scales[l] : 0});
  return shape;
}

Ladder::Ladder(LadderStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)) {
  require(visible_->complaint_as_output().empty(), "the visible layer of a ladder: {}",
          visible_->complaint_as_output());
  net_ = std::make_shared<LadderNet>(net_shape(structure_));
  for (std::size_t l = 0; l < net_->levels(); ++l) latents_.emplace_back(net_->latent_width(l));
  net_->declare(parameters_, type);
  if (visible_->shared_width() > 0)
    parameters_.insert(ladder_shared_columns, at::zeros({visible_->shared_width()}, type));
}

std::int64_t Ladder::noise_width() const {
  std::int64_t sum = 0;
  for (const GaussianDistribution& each : latents_) sum += each.width();
  return sum;
}

Ladder Ladder::with_parameters(Moments parameters) const {
  Ladder other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

Ladder Ladder::to(const at::TensorOptions& options) const { return with_parameters(parameters_.to(options).clone()); }

Ladder Ladder::dropping(double share, const Key& key) const {
  require(share >= 0 && share < 1, "a share of {} cannot be dropped: give one from 0 to below 1", share);
  Ladder other = *this;
  other.dropout_ = share;
  other.dropout_key_ = key;
  return other;
}

LadderPass Ladder::begin(const Moments& parameters) const { return {*net_, parameters, dropout_, dropout_key_}; }

Ladder Ladder::in_pieces_of(std::int64_t numbers) const {
  Ladder other = *this;
  other.numbers_at_once_ = numbers;
  return other;
}

std::vector<at::Tensor> Ladder::look(LadderPass& pass, const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == visible_->width(), "a ladder of {} takes rows of {} values, not of {}",
          visible_->spec(), visible_->width(), rows.dim() == 2 ? rows.size(1) : -1);
  return pass.up(rows);
}

LadderWalk Ladder::descend(LadderPass& pass, const std::vector<at::Tensor>& known, std::int64_t draws,
                           std::int64_t count, const Moments& parameters, const ChooseNoise& choose) const {
  LadderWalk result{.levels = std::vector<LadderLevel>(levels()), .visible_raw = {}};
  at::Tensor state = pass.top(count);
  for (std::size_t l = levels(); l-- > 0;) {
    LadderLevel& level = result.levels[l];
    level.prior = pass.prior(l, state);
    if (!known.empty())
      level.posterior = pass.posterior(l, state, draws == 1 ? known[l] : known[l].repeat_interleave(draws, 0));
    level.noise = choose(l, level);
    level.latents = latents_[l].mean(level.prior) + latents_[l].log_deviation(level.prior).exp() * level.noise;
    state = pass.below(l, state, level.latents);
  }
  result.visible_raw = pass.output(state);
  if (visible_->shared_width() > 0)
    result.visible_raw =
        at::cat({result.visible_raw, parameters[ladder_shared_columns].expand({count, visible_->shared_width()})}, -1);
  return result;
}

LadderWalk Ladder::walk(const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                        const ChooseNoise& choose) const {
  require(draws >= 1, "inference in a ladder needs at least one draw of each row, not {}", draws);
  LadderPass pass = begin(parameters);
  const std::vector<at::Tensor> known = look(pass, rows);
  return descend(pass, known, draws, rows.size(0) * draws, parameters, choose);
}

LadderWalk Ladder::walk(const Moments& parameters, std::int64_t count, const ChooseNoise& choose) const {
  LadderPass pass = begin(parameters);
  return descend(pass, {}, 1, count, parameters, choose);
}

ChooseNoise Ladder::posterior_draws(const Key& key, std::int64_t draws, std::int64_t first_draw) const {
  return [this, key, draws, first_draw](std::size_t number, const LadderLevel& level) {
    const at::Tensor means = latents_[number].mean(level.posterior);
    const std::vector<std::int64_t> one = {means.size(0) / draws, means.size(1)};
    std::vector<at::Tensor> each;
    for (std::int64_t draw = first_draw; draw < first_draw + draws; ++draw)
      each.push_back(normal(key.fold_in(static_cast<std::uint64_t>(draw)).fold_in(number), one, means.options()));
    return means + latents_[number].log_deviation(level.posterior).exp() * at::stack(each, 1).reshape(means.sizes());
  };
}

ChooseNoise Ladder::most_probable() const {
  return [this](std::size_t number, const LadderLevel& level) {
    return level.posterior.defined() ? latents_[number].mean(level.posterior)
                                     : at::zeros_like(latents_[number].mean(level.prior));
  };
}

at::Tensor Ladder::kl(std::size_t number, const LadderLevel& level) const {
  return *latents_[number].kl(level.posterior, at::zeros({level.posterior.size(1)}, level.posterior.options()));
}

at::Tensor Ladder::raw_of(const Moments& parameters, const at::Tensor& noise) const {
  std::vector<std::int64_t> shape = noise.sizes().vec();
  shape.back() = -1;
  const std::vector<at::Tensor> parts = latents(parameters, noise.reshape({-1, noise_width()}));
  return walk(parameters, parts.front().size(0), [&](std::size_t number, const LadderLevel&) { return parts[number]; })
      .visible_raw.reshape(shape);
}

at::Tensor Ladder::means(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  return visible_->mean(raw_of(parameters, at::cat(latents, -1)));
}

at::Tensor Ladder::log_likelihood(const Moments& parameters, const at::Tensor& rows, const at::Tensor& noise) const {
  require(noise.dim() == 3 && noise.size(0) == rows.size(0) && noise.size(2) == noise_width(),
          "noise of this ladder is rows × draws × {}, with as many rows as the data ({})", noise_width(), rows.size(0));
  return visible_->log_prob(rows.unsqueeze(1), raw_of(parameters, noise));
}

std::vector<at::Tensor> Ladder::latents(const Moments&, const at::Tensor& noise) const {
  require(noise.dim() >= 1 && noise.size(-1) == noise_width(), "the noise of this ladder has {} columns, not {}",
          noise_width(), noise.dim() >= 1 ? noise.size(-1) : 0);
  std::vector<std::int64_t> widths;
  for (const GaussianDistribution& each : latents_) widths.push_back(each.width());
  return noise.split_with_sizes(widths, -1);
}

at::Tensor Ladder::noise(const Moments&, const std::vector<at::Tensor>& latents) const { return at::cat(latents, -1); }

at::Tensor Ladder::log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                  const std::vector<at::Tensor>& latents) const {
  return log_likelihood(parameters, rows, at::cat(latents, -1));
}

Trace Ladder::traced(const at::Tensor& rows, std::int64_t draws, const LadderWalk& walk) const {
  const auto of_rows = [&](const at::Tensor& values) { return values.reshape({rows.size(0), draws, -1}); };
  Trace trace;
  trace.log_p.push_back(visible_->log_prob(rows.unsqueeze(1), of_rows(walk.visible_raw)));
  for (std::size_t l = 0; l < levels(); ++l) {
    const LadderLevel& level = walk.levels[l];
    trace.latents.push_back(of_rows(level.noise));
    trace.log_p.push_back(
        latents_[l].log_prob(trace.latents[l], at::zeros({latents_[l].raw_width()}, level.noise.options())));
    trace.log_q.push_back(latents_[l].log_prob(trace.latents[l], of_rows(level.posterior)));
  }
  return trace;
}

Trace Ladder::infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                    std::int64_t first_draw) const {
  require(draws >= 1, "inference in a ladder needs at least one draw of each row, not {}", draws);
  LadderPass pass = begin(parameters);
  const std::vector<at::Tensor> known = look(pass, rows);
  const std::int64_t of_a_draw = std::max<std::int64_t>(1, rows.size(0) * net_->widest());
  const std::int64_t at_once =
      c10::GradMode::is_enabled() ? draws : std::clamp<std::int64_t>(numbers_at_once_ / of_a_draw, 1, draws);
  std::vector<Trace> parts;
  for (std::int64_t done = 0; done < draws; done += at_once) {
    const std::int64_t count = std::min(at_once, draws - done);
    parts.push_back(traced(
        rows, count,
        descend(pass, known, count, rows.size(0) * count, parameters, posterior_draws(key, count, first_draw + done))));
  }
  if (parts.size() == 1) return parts.front();
  Trace all;
  for (const auto list : {&Trace::latents, &Trace::log_p, &Trace::log_q})
    for (std::size_t l = 0; l < (parts.front().*list).size(); ++l) {
      std::vector<at::Tensor> pieces;
      for (const Trace& part : parts) pieces.push_back((part.*list)[l]);
      (all.*list).push_back(at::cat(pieces, 1));
    }
  return all;
}

Trace Ladder::score(const Moments& parameters, const at::Tensor& rows, const std::vector<at::Tensor>& latents) const {
  require(latents.size() == levels(), "this ladder has {} levels of latent variables, not {}", levels(),
          latents.size());
  for (std::size_t l = 0; l < levels(); ++l)
    require(latents[l].dim() == 3 && latents[l].size(0) == rows.size(0) &&
                latents[l].size(1) == latents.front().size(1) && latents[l].size(2) == latents_[l].width(),
            "latents of level {} of this ladder are rows × draws × {}, with as many rows as the data ({})", l + 1,
            latents_[l].width(), rows.size(0));
  const std::int64_t draws = latents.front().size(1);
  return traced(rows, draws, walk(parameters, rows, draws, [&](std::size_t number, const LadderLevel&) {
                  return latents[number].reshape({rows.size(0) * draws, -1});
                }));
}

Dream Ladder::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  require(count >= 0, "a ladder cannot draw {} rows", count);
  Dream dream;
  for (std::size_t l = 0; l < levels(); ++l)
    dream.latents.push_back(normal(key.fold_in(0).fold_in(l), {count, latents_[l].width()},
                                   parameters[LadderNet::output_bias()].options()));
  const std::int64_t at_once = std::max<std::int64_t>(1, numbers_at_once_ / net_->widest());
  std::vector<at::Tensor> raw;
  for (std::int64_t done = 0; done == 0 || done < count; done += at_once) {
    const std::int64_t part = std::min(at_once, count - done);
    raw.push_back(walk(parameters, part, [&](std::size_t number, const LadderLevel&) {
                    return dream.latents[number].narrow(0, done, part);
                  }).visible_raw);
  }
  const at::Tensor all = at::cat(raw);
  dream.visible = visible_->sample(key.fold_in(1), all);
  dream.means = visible_->mean(all);
  return dream;
}

void initialize(Ladder& ladder, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == ladder.visible().width(),
          "a ladder of {} begins at the means of {} columns, not of {}", ladder.visible().spec(),
          ladder.visible().width(), data_means.dim() == 1 ? data_means.size(0) : -1);
  ladder.net().initialize(ladder.parameters(), key);
  at::Tensor& bias = ladder.parameters()[LadderNet::output_bias()];
  bias.copy_(ladder.visible().raw_of_means(data_means.to(bias.options())));
}

}  // namespace harmonium
