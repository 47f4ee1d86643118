#include "harmonium/nets/ladder_net.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr const char* top_state = "top";
constexpr const char* halving_weights = "halve.weights";
constexpr const char* halving_bias = "halve.bias";

const LadderNetShape& checked_ladder(const LadderNetShape& shape) {
  require(shape.height >= 1 && shape.width >= 1 && shape.inputs >= 1 && shape.outputs >= 1,
          "a ladder needs pictures with values, not {} × {} pixels of {} values", shape.height, shape.width,
          shape.inputs);
  require(!shape.levels.empty(), "a ladder needs at least one level of latent variables");
  require(shape.channels >= 1 && shape.blocks >= 1, "a ladder needs a channel and a block, not {} and {}",
          shape.channels, shape.blocks);
  require(shape.kernel >= 1 && shape.kernel % 2 == 1, "a kernel {} places wide: give an odd number", shape.kernel);
  const std::int64_t side = std::min(shape.height, shape.width);
  std::int64_t scale = 0;
  for (std::size_t l = 0; l < shape.levels.size(); ++l) {
    const LadderNetShape::Level& level = shape.levels[l];
    require(level.latent >= 1, "level {} of a ladder has {} latent variables at a place; it needs at least one", l + 1,
            level.latent);
    require(level.scale >= scale,
            "level {} of a ladder is halved {} times and the one below it {} times: levels get "
            "smaller from the data up",
            l + 1, level.scale, scale);
    scale = level.scale;
    require(scale < 32 && (std::int64_t{1} << scale) < 2 * side,
            "a picture of {} × {} pixels cannot be halved {} times", shape.height, shape.width, scale);
  }
  return shape;
}

std::int64_t padded_to(std::int64_t size, std::int64_t halvings) {
  const std::int64_t step = std::int64_t{1} << halvings;
  return (size + step - 1) / step * step;
}

Border all_sides(const LadderNetShape& shape) {
  const std::int64_t reach = (shape.kernel - 1) / 2;
  return {.above = reach, .below = reach, .left = reach, .right = reach};
}

// Every place 2 × 2 times. Channels lie last in memory and stay there.
at::Tensor repeated(const at::Tensor& values) {
  const std::int64_t count = values.size(0), channels = values.size(1), rows = values.size(2), columns = values.size(3);
  return values.permute({0, 2, 3, 1})
      .reshape({count, rows, 1, columns, 1, channels})
      .expand({count, rows, 2, columns, 2, channels})
      .reshape({count, 2 * rows, 2 * columns, channels})
      .permute({0, 3, 1, 2});
}

}  // namespace

LadderNet::LadderNet(LadderNetShape shape)
    : shape_(checked_ladder(shape)),
      padded_height_(padded_to(shape_.height, halvings())),
      padded_width_(padded_to(shape_.width, halvings())),
      stem_("stem", shape_.inputs, shape_.channels, all_sides(shape_)),
      output_("output", shape_.channels, shape_.outputs, {}, /*biased=*/false),
      up_("up", shape_.channels, all_sides(shape_), /*has_side=*/false),
      down_("down", shape_.channels, all_sides(shape_), /*has_side=*/false),
      merge_("merge", shape_.channels, all_sides(shape_), /*has_side=*/true) {
  std::size_t level = 0;
  for (std::int64_t scale = 0; scale <= halvings(); ++scale) {
    if (shape_.levels[level].scale > scale) stretches_.push_back({.scale = scale});
    for (; level < levels() && shape_.levels[level].scale == scale; ++level)
      stretches_.push_back({.scale = scale, .level = static_cast<std::int64_t>(level)});
  }
}

std::int64_t LadderNet::latent_width(std::size_t level) const {
  const LadderNetShape::Level& here = shape_.levels[level];
  return here.latent * grid_rows(here.scale) * grid_columns(here.scale);
}

std::int64_t LadderNet::blocks() const { return static_cast<std::int64_t>(stretches_.size()) * shape_.blocks; }

CausalConvolution LadderNet::of_level(std::size_t level, const char* what, std::int64_t inputs,
                                      std::int64_t outputs) const {
  return {format("level{}.{}", level + 1, what), inputs, outputs};
}

CausalConvolution LadderNet::prior(std::size_t level) const {
  return of_level(level, "prior", shape_.channels, 2 * shape_.levels[level].latent);
}

CausalConvolution LadderNet::posterior(std::size_t level) const {
  return of_level(level, "posterior", shape_.channels, 2 * shape_.levels[level].latent);
}

CausalConvolution LadderNet::enter(std::size_t level) const {
  return of_level(level, "enter", shape_.levels[level].latent, shape_.channels);
}

double LadderNet::weights() const {
  const auto channels = static_cast<double>(shape_.channels);
  double sum = stem_.weights() + output_.weights() + static_cast<double>(blocks()) * (up_.weights() + down_.weights()) +
               static_cast<double>(levels()) * merge_.weights() +
               4 * static_cast<double>(halvings()) * channels * channels;
  for (std::size_t l = 0; l < levels(); ++l) sum += 5 * channels * static_cast<double>(shape_.levels[l].latent);
  return sum;
}

double LadderNet::places(std::int64_t scale) const {
  return static_cast<double>(grid_rows(scale)) * static_cast<double>(grid_columns(scale));
}

double LadderNet::values() const {
  double sum = 0;
  for (const Stretch& each : stretches_)
    sum += places(each.scale) * static_cast<double>(shape_.channels) *
           (2 * static_cast<double>(shape_.blocks) + (each.level >= 0 ? 1 : 0));
  return sum;
}

double LadderNet::products() const {
  const auto channels = static_cast<double>(shape_.channels);
  double sum = places(0) * (stem_.weights() + output_.weights());
  for (const Stretch& each : stretches_) {
    sum += places(each.scale) * static_cast<double>(shape_.blocks) * (up_.weights() + down_.weights());
    if (each.level < 0) continue;
    const auto latent = static_cast<double>(shape_.levels[static_cast<std::size_t>(each.level)].latent);
    sum += places(each.scale) * (merge_.weights() + 5 * channels * latent);
  }
  for (std::int64_t scale = 1; scale <= halvings(); ++scale) sum += places(scale) * 4 * channels * channels;
  return sum;
}

void LadderNet::declare(Moments& parameters, at::ScalarType type) const {
  const auto stack = [&](const GatedResidual& block, std::int64_t count) {
    Moments one;
    block.declare(one, type);
    for (const auto& [name, value] : one.entries())
      parameters.insert(name, value.unsqueeze(0).repeat_interleave(count, 0));
  };
  const std::int64_t channels = shape_.channels;
  stem_.declare(parameters, type);
  stack(up_, blocks());
  if (halvings() > 0) {
    parameters.insert(halving_weights, at::zeros({halvings(), channels, channels, 2, 2}, type));
    parameters.insert(halving_bias, at::zeros({halvings(), channels}, type));
  }
  parameters.insert(top_state, at::zeros({channels, grid_rows(halvings()), grid_columns(halvings())}, type));
  for (std::size_t l = 0; l < levels(); ++l) {
    prior(l).declare(parameters, type);
    posterior(l).declare(parameters, type);
    enter(l).declare(parameters, type);
  }
  stack(merge_, static_cast<std::int64_t>(levels()));
  stack(down_, blocks());
  output_.declare(parameters, type);
  parameters.insert(output_bias(), at::zeros({shape_.outputs * shape_.height * shape_.width}, type));
}

LadderNet::Unstacked LadderNet::unstacked(const Moments& parameters) const {
  Unstacked all;
  const auto part_of = [&](const std::string& name) -> std::vector<Moments>* {
    if (name.starts_with("up.")) return &all.up;
    if (name.starts_with("down.")) return &all.down;
    if (name.starts_with("merge.")) return &all.merge;
    return name.starts_with("halve.") ? &all.halve : nullptr;
  };
  for (const auto& [name, value] : parameters.entries()) {
    std::vector<Moments>* const part = part_of(name);
    if (part == nullptr) {
      all.rest.insert(name, value);
      continue;
    }
    const std::vector<at::Tensor> each = value.unbind(0);
    part->resize(each.size());
    for (std::size_t i = 0; i < each.size(); ++i) (*part)[i].insert(name, each[i]);
  }
  return all;
}

void LadderNet::initialize(Moments& parameters, const Key& key) const {
  for (const auto& [name, value] : parameters.entries()) at::Tensor(value).zero_();
  Unstacked all = unstacked(parameters);
  std::uint64_t stream = 0;
  const auto begin = [&](const auto& layer, Moments& of) { layer.initialize(of, key.fold_in(stream++)); };
  const auto begin_blocks = [&](const GatedResidual& block, std::vector<Moments>& of, const std::string& name) {
    for (Moments& each : of) {
      begin(block, each);
      each[name + ".second.weights"].mul_(1 / std::sqrt(static_cast<double>(of.size())));
    }
  };
  begin(stem_, all.rest);
  begin_blocks(up_, all.up, "up");
  begin_blocks(merge_, all.merge, "merge");
  begin_blocks(down_, all.down, "down");
  for (Moments& each : all.halve) {
    at::Tensor& weights = each[halving_weights];
    const double bound = std::sqrt(6.0 / static_cast<double>(5 * shape_.channels));  // 4 places in, each into one
    weights.copy_(uniform(key.fold_in(stream++), weights.sizes(), weights.options()).mul_(2 * bound).sub_(bound));
  }
  constexpr double calm = 0.1;
  for (std::size_t l = 0; l < levels(); ++l) {
    begin(prior(l), all.rest);
    begin(posterior(l), all.rest);
    begin(enter(l), all.rest);
    const std::string name = format("level{}.", l + 1);
    all.rest[name + "prior.weights"].mul_(calm);
    all.rest[name + "posterior.weights"].mul_(calm);
    all.rest[name + "enter.weights"].mul_(1 / std::sqrt(static_cast<double>(levels())));
  }
  // A state of zeros would leave the first prior without a gradient.
  at::Tensor& top = all.rest[top_state];
  top.copy_(normal(key.fold_in(stream++), top.sizes(), top.options()));
}

LadderPass::LadderPass(const LadderNet& net, const Moments& parameters, double dropout, const Key& key)
    : net_(&net), parameters_(net.unstacked(parameters)), pass_(net.shape().height, net.shape().width, dropout, key) {}

at::Tensor LadderPass::blocks_up(std::size_t stretch, at::Tensor values) {
  const auto count = static_cast<std::size_t>(net_->shape().blocks);
  for (std::size_t block = stretch * count; block < (stretch + 1) * count; ++block)
    values = net_->up_.forward(parameters_.up[block], values, {}, pass_);
  return values;
}

at::Tensor LadderPass::blocks_down(std::size_t stretch, at::Tensor values) {
  const auto count = static_cast<std::size_t>(net_->shape().blocks);
  for (std::size_t block = stretch * count; block < (stretch + 1) * count; ++block)
    values = net_->down_.forward(parameters_.down[block], values, {}, pass_);
  return values;
}

std::vector<at::Tensor> LadderPass::up(const at::Tensor& rows) {
  const LadderNetShape& shape = net_->shape();
  at::Tensor values = rows.reshape({rows.size(0), shape.inputs, shape.height, shape.width});
  const std::int64_t below = net_->padded_height_ - shape.height, right = net_->padded_width_ - shape.width;
  values = at::constant_pad_nd(values, {right / 2, right - right / 2, below / 2, below - below / 2});
  values = net_->stem_.forward(parameters_.rest, values.contiguous(at::MemoryFormat::ChannelsLast), pass_);
  std::vector<at::Tensor> known(net_->levels());
  std::int64_t scale = 0;
  for (std::size_t i = 0; i < net_->stretches_.size(); ++i) {
    const LadderNet::Stretch& stretch = net_->stretches_[i];
    if (stretch.scale > scale) {
      const Moments& halving = parameters_.halve[static_cast<std::size_t>(scale)];
      values = at::conv2d(values, halving[halving_weights], halving[halving_bias], /*stride=*/2)
                   .contiguous(at::MemoryFormat::ChannelsLast);
      scale = stretch.scale;
    }
    values = blocks_up(i, values);
    if (stretch.level >= 0) known[static_cast<std::size_t>(stretch.level)] = values;
  }
  return known;
}

at::Tensor LadderPass::top(std::int64_t count) const {
  const at::Tensor& state = parameters_.rest[top_state];
  return state.unsqueeze(0)
      .expand({count, state.size(0), state.size(1), state.size(2)})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor LadderPass::prior(std::size_t level, const at::Tensor& state) {
  return net_->prior(level).forward(parameters_.rest, at::elu(state), pass_).reshape({state.size(0), -1});
}

at::Tensor LadderPass::posterior(std::size_t level, const at::Tensor& state, const at::Tensor& data) {
  const at::Tensor merged = net_->merge_.forward(parameters_.merge[level], state, data, pass_);
  return net_->posterior(level).forward(parameters_.rest, at::elu(merged), pass_).reshape({state.size(0), -1});
}

at::Tensor LadderPass::below(std::size_t level, const at::Tensor& state, const at::Tensor& latents) {
  const LadderNetShape::Level& here = net_->shape().levels[level];
  const at::Tensor placed =
      latents.reshape({latents.size(0), here.latent, net_->grid_rows(here.scale), net_->grid_columns(here.scale)})
          .contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor values = state + net_->enter(level).forward(parameters_.rest, placed, pass_);
  std::size_t i = 0;
  while (net_->stretches_[i].level != static_cast<std::int64_t>(level)) ++i;
  values = blocks_down(i, values);
  // Down to the next level, through scales that have none.
  for (; i > 0; --i) {
    if (net_->stretches_[i - 1].scale < net_->stretches_[i].scale) values = repeated(values);
    if (net_->stretches_[i - 1].level >= 0) break;
    values = blocks_down(i - 1, values);
  }
  return values;
}

at::Tensor LadderPass::output(const at::Tensor& state) {
  const LadderNetShape& shape = net_->shape();
  const at::Tensor made = net_->output_.forward(parameters_.rest, at::elu(state), pass_)
                              .narrow(2, (net_->padded_height_ - shape.height) / 2, shape.height)
                              .narrow(3, (net_->padded_width_ - shape.width) / 2, shape.width);
  return made.permute({0, 2, 3, 1}).reshape({state.size(0), -1}) + parameters_.rest[LadderNet::output_bias()];
}

}  // namespace harmonium
