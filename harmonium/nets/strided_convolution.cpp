#include "harmonium/nets/strided_convolution.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

StridedConvolution::StridedConvolution(std::string name, std::int64_t wide, std::int64_t narrow, Way way)
    : name_(std::move(name)), wide_(wide), narrow_(narrow), way_(way) {
  require(wide >= 1 && narrow >= 1, "the convolution '{}' needs at least one channel on either side, not {} and {}",
          name_, wide, narrow);
}

void StridedConvolution::declare(Moments& parameters, at::ScalarType type) const {
  parameters.insert(name_ + ".weights", at::zeros({narrow_, wide_, 3, 3}, type));
  parameters.insert(name_ + ".bias", at::zeros({way_ == Way::down ? narrow_ : wide_}, type));
}

void StridedConvolution::initialize(Moments& parameters, const Key& key) const {
  at::Tensor& drawn = parameters[name_ + ".weights"];
  // A place of the smaller picture meets 9 of the larger one, and one of the larger 9/4 of the smaller.
  const double bound = std::sqrt(6.0 / (9 * static_cast<double>(wide_) + 2.25 * static_cast<double>(narrow_)));
  drawn.copy_(uniform(key, drawn.sizes(), drawn.options()).mul_(2 * bound).sub_(bound));
  parameters[name_ + ".bias"].zero_();
}

at::Tensor StridedConvolution::down(const Moments& parameters, const at::Tensor& values) const {
  require(way_ == Way::down && values.dim() == 4 && values.size(1) == wide_,
          "the convolution '{}' makes pictures of {} channels smaller, not those of {}", name_, wide_,
          values.dim() == 4 ? values.size(1) : -1);
  return at::conv2d(values, parameters[name_ + ".weights"], parameters[name_ + ".bias"], /*stride=*/2, /*padding=*/1)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor StridedConvolution::up(const Moments& parameters, const at::Tensor& values, std::int64_t rows,
                                  std::int64_t columns) const {
  require(way_ == Way::up && values.dim() == 4 && values.size(1) == narrow_ && values.size(2) == half(rows) &&
              values.size(3) == half(columns),
          "the convolution '{}' makes {} × {} places out of half as many with {} channels, and was given others", name_,
          rows, columns, narrow_);
  // What the sum leaves out at the far side of a picture of even size.
  const std::array<std::int64_t, 2> rest = {rows - (2 * values.size(2) - 1), columns - (2 * values.size(3) - 1)};
  return at::conv_transpose2d(values, parameters[name_ + ".weights"], parameters[name_ + ".bias"], /*stride=*/2,
                              /*padding=*/1, rest)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace harmonium
