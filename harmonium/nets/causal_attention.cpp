#include "harmonium/nets/causal_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/nets/gated_residual.h"

namespace harmonium {

namespace {

// N × C × rows × columns → N × pixels × C; no copy where channels lie last.
at::Tensor by_pixel(const at::Tensor& values) {
  return values.permute({0, 2, 3, 1}).reshape({values.size(0), -1, values.size(1)});
}

}  // namespace

CausalAttention::CausalAttention(const std::string& name, std::int64_t channels)
    : name_(name),
      keys_(std::max<std::int64_t>(1, channels / 4)),
      values_(std::max<std::int64_t>(1, channels / 2)),
      input_(name + ".input", channels, 2 * keys_ + values_),
      output_(name + ".output", values_, 2 * channels) {}

void CausalAttention::declare(Moments& parameters, at::ScalarType type) const {
  input_.declare(parameters, type);
  output_.declare(parameters, type);
}

void CausalAttention::initialize(Moments& parameters, const Key& key) const {
  input_.initialize(parameters, key.fold_in(0));
  output_.initialize(parameters, key.fold_in(1));
}

double CausalAttention::weights() const { return input_.weights() + output_.weights(); }

double CausalAttention::products(double pixels) const { return pixels * static_cast<double>(keys_ + values_); }

at::Tensor CausalAttention::forward(const Moments& parameters, const at::Tensor& x, PicturePass& pass) const {
  const at::Tensor projected = input_.forward(parameters, at::elu(x), pass);
  const at::Tensor query = by_pixel(projected.narrow(1, 0, keys_));
  const at::Tensor seen = by_pixel(pass.so_far(name_, projected.narrow(1, keys_, keys_ + values_)));
  const at::Tensor logits =
      at::baddbmm(pass.causal_bias(x.options()).unsqueeze(0), query, seen.narrow(2, 0, keys_).transpose(1, 2), 1,
                  1 / std::sqrt(static_cast<double>(keys_)));
  const at::Tensor found = at::bmm(logits.softmax(-1), seen.narrow(2, keys_, values_));
  const at::Tensor as_picture = found.reshape({x.size(0), x.size(2), x.size(3), values_}).permute({0, 3, 1, 2});
  return x + gated(output_.forward(parameters, pass.dropped(as_picture), pass));
}

}  // namespace harmonium
