#include "harmonium/nets/picture_net.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr Border one_place{.above = 1, .below = 1, .left = 1, .right = 1};

std::int64_t halved(std::int64_t size, std::int64_t halvings) {
  for (; halvings > 0; --halvings) size = StridedConvolution::half(size);
  return size;
}

std::vector<std::int64_t> with_last(const at::Tensor& input, std::int64_t last) {
  std::vector<std::int64_t> sizes = input.sizes().vec();
  sizes.back() = last;
  return sizes;
}

}  // namespace

std::int64_t PictureNetShape::rows(std::int64_t times) const { return halved(height, times); }

std::int64_t PictureNetShape::columns(std::int64_t times) const { return halved(width, times); }

double PictureNetShape::weights() const {
  const auto c = static_cast<double>(channels);
  return 9 * c + static_cast<double>(halvings) * (9 * c * c + static_cast<double>(blocks) * 27 * c * c);
}

double PictureNetShape::products() const {
  const auto c = static_cast<double>(channels);
  double sum = 9 * c * static_cast<double>(height * width);
  for (std::int64_t scale = 1; scale <= halvings; ++scale)
    sum += static_cast<double>(rows(scale) * columns(scale)) * (9 + 27 * static_cast<double>(blocks)) * c * c;
  return sum;
}

std::string PictureNetShape::complaint() const {
  constexpr std::int64_t most_halvings = 20;
  if (height < 1 || width < 1) return format("a picture of {} × {} pixels is none", height, width);
  if (channels < 1 || blocks < 0) return format("{} channels and {} blocks make no net", channels, blocks);
  if (halvings < 0 || halvings > most_halvings ||
      (halvings > 0 && rows(halvings - 1) == 1 && columns(halvings - 1) == 1))
    return format("a picture of {} × {} pixels cannot be halved {} times", height, width, halvings);
  return {};
}

PictureNet::PictureNet(std::string prefix, const PictureNetShape& shape, StridedConvolution::Way way)
    : prefix_(std::move(prefix)), shape_(shape) {
  require(shape.complaint().empty(), "{}", shape.complaint());
  for (std::int64_t scale = 1; scale <= shape.halvings; ++scale) {
    steps_.emplace_back(format("{}scale{}.step", prefix_, scale), shape.channels, shape.channels, way);
    std::vector<GatedResidual>& here = blocks_.emplace_back();
    for (std::int64_t block = 1; block <= shape.blocks; ++block)
      here.emplace_back(format("{}scale{}.block{}", prefix_, scale, block), shape.channels, one_place,
                        /*has_side=*/false);
  }
}

at::Tensor PictureNet::through_blocks(const Moments& parameters, std::int64_t halvings, at::Tensor values) const {
  PicturePass pass(shape_.rows(halvings), shape_.columns(halvings));
  for (const GatedResidual& block : blocks_[static_cast<std::size_t>(halvings - 1)])
    values = block.forward(parameters, values, {}, pass);
  return values;
}

void PictureNet::declare_scales(Moments& parameters, at::ScalarType type) const {
  for (std::size_t scale = 0; scale < steps_.size(); ++scale) {
    steps_[scale].declare(parameters, type);
    for (const GatedResidual& block : blocks_[scale]) block.declare(parameters, type);
  }
}

void PictureNet::initialize_scales(Moments& parameters, const Key& key) const {
  std::uint64_t stream = 0;
  for (std::size_t scale = 0; scale < steps_.size(); ++scale) {
    steps_[scale].initialize(parameters, key.fold_in(stream++));
    for (const GatedResidual& block : blocks_[scale]) block.initialize(parameters, key.fold_in(stream++));
  }
}

PictureEncoder::PictureEncoder(const std::string& prefix, const PictureNetShape& shape, std::int64_t outputs)
    : PictureNet(prefix, shape, StridedConvolution::Way::down),
      stem_(prefix + "stem", 1, shape.channels, one_place),
      head_(prefix + "head.", {shape.smallest(), outputs}, Activation::linear) {}

void PictureEncoder::declare(Moments& parameters, at::ScalarType type) const {
  stem_.declare(parameters, type);
  declare_scales(parameters, type);
  head_.declare(parameters, type);
}

void PictureEncoder::initialize(Moments& parameters, const Key& key) const {
  stem_.initialize(parameters, key.fold_in(0));
  initialize_scales(parameters, key.fold_in(1));
  head_.initialize(parameters, key.fold_in(2));
}

at::Tensor PictureEncoder::forward(const Moments& parameters, const at::Tensor& input) const {
  PicturePass pass(shape_.height, shape_.width);
  at::Tensor values = stem_.forward(
      parameters, input.reshape({-1, 1, shape_.height, shape_.width}).contiguous(at::MemoryFormat::ChannelsLast), pass);
  for (std::int64_t scale = 1; scale <= shape_.halvings; ++scale)
    values = through_blocks(parameters, scale,
                            steps_[static_cast<std::size_t>(scale - 1)].down(parameters, at::elu(values)));
  return head_.forward(parameters, at::elu(values).reshape({-1, shape_.smallest()}))
      .reshape(with_last(input, outputs()));
}

PictureDecoder::PictureDecoder(const std::string& prefix, const PictureNetShape& shape, std::int64_t inputs,
                               std::int64_t columns)
    : PictureNet(prefix, shape, StridedConvolution::Way::up),
      columns_(columns),
      root_(prefix + "root.", {inputs, shape.smallest()}, Activation::linear),
      output_(prefix + "output", shape.channels, columns, one_place, /*biased=*/false) {}

void PictureDecoder::declare(Moments& parameters, at::ScalarType type) const {
  root_.declare(parameters, type);
  declare_scales(parameters, type);
  output_.declare(parameters, type);
  parameters.insert(output_bias(), at::zeros({outputs()}, type));
}

void PictureDecoder::initialize(Moments& parameters, const Key& key) const {
  root_.initialize(parameters, key.fold_in(0));
  initialize_scales(parameters, key.fold_in(1));
  output_.initialize(parameters, key.fold_in(2));
  parameters[output_bias()].zero_();
}

at::Tensor PictureDecoder::forward(const Moments& parameters, const at::Tensor& input) const {
  at::Tensor values = root_.forward(parameters, input.reshape({-1, inputs()}))
                          .reshape({-1, shape_.channels, shape_.rows(shape_.halvings), shape_.columns(shape_.halvings)})
                          .contiguous(at::MemoryFormat::ChannelsLast);
  for (std::int64_t scale = shape_.halvings; scale >= 1; --scale) {
    values = at::elu(through_blocks(parameters, scale, values));
    values = steps_[static_cast<std::size_t>(scale - 1)].up(parameters, values, shape_.rows(scale - 1),
                                                            shape_.columns(scale - 1));
  }
  PicturePass pass(shape_.height, shape_.width);
  const at::Tensor made = output_.forward(parameters, at::elu(values), pass).permute({0, 2, 3, 1});
  return (made.reshape({-1, outputs()}) + parameters[output_bias()]).reshape(with_last(input, outputs()));
}

}  // namespace harmonium
