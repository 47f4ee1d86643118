// A convolution over pictures that looks at pixels above and to the left alone.
//
//   y_o(i, j) = b_o + Σ_c Σ_{r, s} W_oc(r, s) x_c(i − above + r, j − left + s),   r ≤ above + below, s ≤ left + right
//
// Shapes: x is N × inputs × rows × columns, W outputs × inputs × (1 + above + below) × (1 + left + right). Nothing is
// masked: what must not be seen has no weight, so no product is wasted. A pixel costs one multiplication for each
// weight. The initial weights are uniform in ±√(6/(fan-in + fan-out)), biases zero. With borders of one width on all
// sides it is the ordinary convolution, which nets use whose pixels need no order.
#pragma once

#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/nets/picture_pass.h"

namespace harmonium {

class CausalConvolution {
 public:
  // Parameters are NAME.weights and, unless it has no bias, NAME.bias.
  CausalConvolution(std::string name, std::int64_t inputs, std::int64_t outputs, Border border = {},
                    bool biased = true);

  void declare(Moments& parameters, at::ScalarType type) const;
  void initialize(Moments& parameters, const Key& key) const;
  [[nodiscard]] double weights() const;
  // Values of the layer below in the pass's window → values of this one.
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& values, PicturePass& pass) const;
  // The same for a picture that is known as a whole: borders may then leave out a pixel's own row or column.
  [[nodiscard]] at::Tensor of_picture(const Moments& parameters, const at::Tensor& picture,
                                      const PicturePass& pass) const;

 private:
  // `zeros`: rows above and below, columns to the left and right, that are added to `bordered`.
  [[nodiscard]] at::Tensor convolve(const Moments& parameters, const at::Tensor& bordered,
                                    const std::vector<std::int64_t>& zeros = {0, 0}) const;

  std::string name_;
  std::int64_t inputs_, outputs_;
  Border border_;
  bool biased_;
};

}  // namespace harmonium
