#include "harmonium/models/autoregressive/pixel_net.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <numeric>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr const char* vertical_position = "vertical.position";
constexpr const char* horizontal_position = "horizontal.position";
constexpr const char* pixel_bias = "output.bias";

// Numbers of one tensor of attention or of a block that are worked with at once where no gradient is wanted.
constexpr std::int64_t pixel_numbers_at_once = 1 << 25;

const PixelNetStructure& checked_shape(const PixelNetStructure& shape) {
  require(shape.height >= 1 && shape.width >= 1, "a pixel net needs pictures, not {} × {} pixels", shape.height,
          shape.width);
  require(shape.channels >= 1 && shape.blocks >= 1, "a pixel net needs a channel and a block, not {} and {}",
          shape.channels, shape.blocks);
  require(shape.attention >= 0 && shape.attention <= shape.blocks,
          "attention after {} of {} blocks: give a number from 0 to {}", shape.attention, shape.blocks, shape.blocks);
  require(shape.kernel >= 3 && shape.kernel % 2 == 1, "a kernel {} pixels wide: give an odd number from 3",
          shape.kernel);
  return shape;
}

// Pixels that a convolution of a block looks beside its own.
std::int64_t reach_of(const PixelNetStructure& shape) { return (shape.kernel - 1) / 2; }

}  // namespace

PixelNet::PixelNet(PixelNetStructure structure, at::ScalarType type)
    : structure_(checked_shape(structure)),
      visible_(pixels()),
      first_above_("vertical.input", 1, structure_.channels,
                   {.above = structure_.kernel, .below = -1, .left = structure_.kernel, .right = structure_.kernel}),
      first_left_("horizontal.input", 1, structure_.channels, {.left = structure_.kernel, .right = -1}),
      before_output_("last", structure_.channels, structure_.channels),
      output_("output", structure_.channels, 1, {}, /*biased=*/false),
      vertical_("blocks.vertical", structure_.channels,
                {.above = reach_of(structure_), .left = reach_of(structure_), .right = reach_of(structure_)},
                /*has_side=*/false),
      horizontal_("blocks.horizontal", structure_.channels,
                  {.above = reach_of(structure_), .left = reach_of(structure_)}, /*has_side=*/true),
      attention_("attention", structure_.channels) {
  const auto of_places = [&](const char* name) {
    parameters_.insert(name, at::zeros({structure_.channels, structure_.height, structure_.width}, type));
  };
  const auto stack = [&](const Moments& one, std::int64_t count) {
    for (const auto& [name, value] : one.entries())
      if (count > 0) parameters_.insert(name, value.unsqueeze(0).repeat_interleave(count, 0));
  };
  first_above_.declare(parameters_, type);
  of_places(vertical_position);
  first_left_.declare(parameters_, type);
  of_places(horizontal_position);
  Moments block, attention;
  vertical_.declare(block, type);
  horizontal_.declare(block, type);
  attention_.declare(attention, type);
  stack(block, structure_.blocks);
  stack(attention, structure_.attention);
  before_output_.declare(parameters_, type);
  output_.declare(parameters_, type);
  parameters_.insert(pixel_bias, at::zeros({pixels()}, type));
}

bool PixelNet::attends_after(std::int64_t block) const {
  return (block + 1) * structure_.attention / structure_.blocks > block * structure_.attention / structure_.blocks;
}

PixelNet::Unstacked PixelNet::unstacked(const Moments& parameters) const {
  Unstacked all{.rest = {},
                .blocks = std::vector<Moments>(static_cast<std::size_t>(structure_.blocks)),
                .attention = std::vector<Moments>(static_cast<std::size_t>(structure_.attention))};
  for (const auto& [name, value] : parameters.entries()) {
    std::vector<Moments>* const floors = name.starts_with("blocks.")      ? &all.blocks
                                         : name.starts_with("attention.") ? &all.attention
                                                                          : nullptr;
    if (floors == nullptr) {
      all.rest.insert(name, value);
      continue;
    }
    const std::vector<at::Tensor> each = value.unbind(0);
    for (std::size_t floor = 0; floor < each.size(); ++floor) (*floors)[floor].insert(name, each[floor]);
  }
  return all;
}

std::vector<std::int64_t> PixelNet::order() const {
  std::vector<std::int64_t> raster(static_cast<std::size_t>(pixels()));
  std::iota(raster.begin(), raster.end(), 0);
  return raster;
}

double PixelNet::products() const {
  const auto places = static_cast<double>(pixels());
  return places * (first_above_.weights() + first_left_.weights() + before_output_.weights() + output_.weights() +
                   static_cast<double>(structure_.blocks) * (vertical_.weights() + horizontal_.weights()) +
                   static_cast<double>(structure_.attention) * (attention_.weights() + attention_.products(places)));
}

at::TensorOptions PixelNet::options() const { return parameters_[pixel_bias].options(); }

PixelNet PixelNet::with_parameters(Moments parameters) const {
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(), "parameter {} does not fit this pixel net", name);
  PixelNet other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

PixelNet PixelNet::to(const at::TensorOptions& options) const {
  PixelNet other = *this;
  other.parameters_ = parameters_.to(options).clone();
  return other;
}

at::Tensor PixelNet::picture_of(const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == pixels(), "a pixel net of {} × {} pixels takes rows of {}, not of {}",
          structure_.height, structure_.width, pixels(), rows.dim() == 2 ? rows.size(1) : -1);
  return (2 * rows - 1).reshape({rows.size(0), 1, structure_.height, structure_.width});
}

std::vector<at::Tensor> PixelNet::vertical(const Unstacked& parameters, const at::Tensor& picture,
                                           PicturePass& pass) const {
  std::vector<at::Tensor> stages = {first_above_.of_picture(parameters.rest, picture, pass) +
                                    pass.window_of(parameters.rest[vertical_position].unsqueeze(0))};
  for (const Moments& block : parameters.blocks) {
    pass.go_to_floor(static_cast<std::int64_t>(stages.size()));
    stages.push_back(vertical_.forward(block, stages.back(), {}, pass));
  }
  return stages;
}

at::Tensor PixelNet::horizontal(const Unstacked& parameters, const at::Tensor& picture,
                                const std::vector<at::Tensor>& above, PicturePass& pass) const {
  at::Tensor values = first_left_.of_picture(parameters.rest, picture, pass) + above[0] +
                      pass.window_of(parameters.rest[horizontal_position].unsqueeze(0));
  auto attention = parameters.attention.begin();
  for (std::size_t block = 0; block < parameters.blocks.size(); ++block) {
    pass.go_to_floor(static_cast<std::int64_t>(block + 1));
    values = horizontal_.forward(parameters.blocks[block], values, above[block + 1], pass);
    if (attends_after(static_cast<std::int64_t>(block))) values = attention_.forward(*attention++, values, pass);
  }
  values = before_output_.forward(parameters.rest, at::elu(values), pass);
  const at::Tensor bias = parameters.rest[pixel_bias].reshape({1, 1, structure_.height, structure_.width});
  return output_.forward(parameters.rest, at::elu(values), pass) + pass.window_of(bias);
}

at::Tensor PixelNet::raw(const Moments& parameters, const at::Tensor& rows, double dropout, const Key& key) const {
  PicturePass pass(structure_.height, structure_.width, dropout, key);
  const at::Tensor picture = picture_of(rows);
  const Unstacked all = unstacked(parameters);
  return horizontal(all, picture, vertical(all, picture, pass), pass).reshape({rows.size(0), pixels()});
}

at::Tensor PixelNet::log_prob(const Moments& parameters, const at::Tensor& rows, double dropout, const Key& key) const {
  return visible_.log_prob(rows, raw(parameters, rows, dropout, key));
}

at::Tensor PixelNet::in_parts(const at::Tensor& rows, const std::function<at::Tensor(const at::Tensor& part)>& answer,
                              const std::function<void(std::int64_t done, std::int64_t total)>& done) const {
  const c10::NoGradGuard without_gradient;
  const std::int64_t numbers = pixels() * std::max(2 * structure_.channels, structure_.attention > 0 ? pixels() : 1);
  const std::int64_t at_once = std::clamp<std::int64_t>(pixel_numbers_at_once / numbers, 1, 1000);
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first == 0 || first < rows.size(0); first += at_once) {
    const std::int64_t count = std::min(at_once, rows.size(0) - first);
    parts.push_back(answer(rows.narrow(0, first, count).to(options())));
    if (done && rows.size(0) > at_once) done(first + count, rows.size(0));
  }
  return at::cat(parts);
}

at::Tensor PixelNet::log_probabilities(const at::Tensor& rows,
                                       const std::function<void(std::int64_t done, std::int64_t total)>& done) const {
  return in_parts(
      rows, [&](const at::Tensor& part) { return log_prob(parameters_, part); }, done);
}

at::Tensor PixelNet::log_conditionals(const at::Tensor& rows) const {
  return in_parts(rows, [&](const at::Tensor& part) { return visible_.log_prob_each(part, raw(parameters_, part)); });
}

OrderedDraw PixelNet::walk(const Key& key, const at::Tensor& rows, std::int64_t first) const {
  const c10::NoGradGuard without_gradient;
  const std::int64_t width = structure_.width, known_rows = first / width;
  const auto one = visible_.of_one_variable();
  OrderedDraw result{.values = rows.clone(), .means = rows.clone()};
  const at::Tensor picture = picture_of(rows);  // drawn pixels are written into it
  PicturePass pass(structure_.height, width);
  const Unstacked parameters = unstacked(parameters_);
  const auto see_rows = [&](std::int64_t row, std::int64_t count) {
    pass.move_to({.row = row, .column = 0, .rows = count, .columns = width});
    return vertical(parameters, picture, pass);
  };
  if (known_rows > 0) (void)horizontal(parameters, picture, see_rows(0, known_rows), pass);
  for (std::int64_t row = known_rows; row < structure_.height; ++row) {
    const std::vector<at::Tensor> above = see_rows(row, 1);
    for (std::int64_t column = 0; column < width; ++column) {
      const std::int64_t place = row * width + column;
      std::vector<at::Tensor> here;
      for (const at::Tensor& stage : above) here.push_back(stage.narrow(3, column, 1));
      pass.move_to({.row = row, .column = column, .rows = 1, .columns = 1});
      const at::Tensor raw = horizontal(parameters, picture, here, pass).reshape({rows.size(0), 1});
      if (place < first) continue;
      const at::Tensor drawn = one->sample(key.fold_in(static_cast<std::uint64_t>(place)), raw);
      result.values.narrow(1, place, 1).copy_(drawn);
      result.means.narrow(1, place, 1).copy_(one->mean(raw));
      picture.select(2, row).select(2, column).copy_(2 * drawn - 1);
    }
  }
  return result;
}

OrderedDraw PixelNet::sample(const Key& key, std::int64_t count) const {
  require(count >= 0, "{} rows cannot be drawn", count);
  return walk(key, at::zeros({count, pixels()}, options()), 0);
}

OrderedDraw PixelNet::complete(const Key& key, const at::Tensor& known) const {
  const std::int64_t first = first_free_place(known, order());
  return walk(key, at::nan_to_num(known.to(options())), first);
}

void initialize(PixelNet& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.pixels(),
          "a pixel net of {} pixels begins at as many means, not {}", net.pixels(), data_means.numel());
  Moments& parameters = net.parameters();
  for (const auto& [name, value] : parameters.entries()) at::Tensor(value).zero_();
  PixelNet::Unstacked all = net.unstacked(parameters);
  std::uint64_t stream = 0;
  const auto begin = [&](const auto& layer, Moments& of) { layer.initialize(of, key.fold_in(stream++)); };
  begin(net.first_above_, all.rest);
  begin(net.first_left_, all.rest);
  begin(net.before_output_, all.rest);
  auto attention = all.attention.begin();
  for (std::size_t block = 0; block < all.blocks.size(); ++block) {
    begin(net.vertical_, all.blocks[block]);
    begin(net.horizontal_, all.blocks[block]);
    if (net.attends_after(static_cast<std::int64_t>(block))) begin(net.attention_, *attention++);
  }
  at::Tensor& bias = parameters[pixel_bias];
  bias.copy_(net.visible().raw_of_means(data_means.to(bias.options())));
}

}  // namespace harmonium
