#include "harmonium/nets/causal_convolution.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

CausalConvolution::CausalConvolution(std::string name, std::int64_t inputs, std::int64_t outputs, Border border,
                                     bool biased)
    : name_(std::move(name)), inputs_(inputs), outputs_(outputs), border_(border), biased_(biased) {
  require(inputs >= 1 && outputs >= 1, "the convolution '{}' needs at least one channel below and above, not {} and {}",
          name_, inputs, outputs);
  require(border.above >= 0 && border.left >= 0 && border.above + border.below >= 0 && border.left + border.right >= 0,
          "the convolution '{}' looks at no pixel", name_);
}

void CausalConvolution::declare(Moments& parameters, at::ScalarType type) const {
  parameters.insert(
      name_ + ".weights",
      at::zeros({outputs_, inputs_, 1 + border_.above + border_.below, 1 + border_.left + border_.right}, type));
  if (biased_) parameters.insert(name_ + ".bias", at::zeros({outputs_}, type));
}

void CausalConvolution::initialize(Moments& parameters, const Key& key) const {
  at::Tensor& drawn = parameters[name_ + ".weights"];
  const double fans = static_cast<double>((inputs_ + outputs_) * drawn.size(2) * drawn.size(3));
  const double bound = std::sqrt(6.0 / fans);
  drawn.copy_(uniform(key, drawn.sizes(), drawn.options()).mul_(2 * bound).sub_(bound));
  if (biased_) parameters[name_ + ".bias"].zero_();
}

double CausalConvolution::weights() const {
  return static_cast<double>(inputs_ * outputs_ * (1 + border_.above + border_.below) *
                             (1 + border_.left + border_.right));
}

at::Tensor CausalConvolution::forward(const Moments& parameters, const at::Tensor& values, PicturePass& pass) const {
  // Zeros on opposite sides alike are added by the convolution itself, without a copy.
  if (pass.is_whole() && border_.above == border_.below && border_.left == border_.right)
    return convolve(parameters, values, {border_.above, border_.left});
  return convolve(parameters, pass.with_border(name_, values, border_));
}

at::Tensor CausalConvolution::of_picture(const Moments& parameters, const at::Tensor& picture,
                                         const PicturePass& pass) const {
  return convolve(parameters, pass.window_of(picture, border_));
}

// Channels lie last in memory, as tensor cores and the CPU's library want them; with a single channel nobody could tell
// from the values.
at::Tensor CausalConvolution::convolve(const Moments& parameters, const at::Tensor& bordered,
                                       const std::vector<std::int64_t>& zeros) const {
  require(bordered.dim() == 4 && bordered.size(1) == inputs_, "the convolution '{}' takes {} channels, not {}", name_,
          inputs_, bordered.dim() == 4 ? bordered.size(1) : -1);
  const at::Tensor bias = biased_ ? parameters[name_ + ".bias"] : at::Tensor();
  return at::conv2d(bordered, parameters[name_ + ".weights"], bias, /*stride=*/1, zeros)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace harmonium
