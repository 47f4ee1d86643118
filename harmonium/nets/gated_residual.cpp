#include "harmonium/nets/gated_residual.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"

namespace harmonium {

GatedResidual::GatedResidual(const std::string& name, std::int64_t channels, Border border, bool has_side)
    : first_(name + ".first", channels, channels, border), second_(name + ".second", channels, 2 * channels, border) {
  if (has_side) side_.emplace(name + ".side", channels, channels, Border{}, /*biased=*/false);
}

void GatedResidual::declare(Moments& parameters, at::ScalarType type) const {
  first_.declare(parameters, type);
  if (side_) side_->declare(parameters, type);
  second_.declare(parameters, type);
}

void GatedResidual::initialize(Moments& parameters, const Key& key) const {
  first_.initialize(parameters, key.fold_in(0));
  second_.initialize(parameters, key.fold_in(1));
  if (side_) side_->initialize(parameters, key.fold_in(2));
}

double GatedResidual::weights() const { return first_.weights() + second_.weights() + (side_ ? side_->weights() : 0); }

at::Tensor GatedResidual::forward(const Moments& parameters, const at::Tensor& values, const at::Tensor& side,
                                  PicturePass& pass) const {
  require(side.defined() == side_.has_value(), "a gated block {} a side input",
          side_ ? "was given none of" : "does not take");
  at::Tensor inner = first_.forward(parameters, at::elu(values), pass);
  if (side_) inner = inner + side_->forward(parameters, at::elu(side), pass);
  return values + gated(second_.forward(parameters, pass.dropped(at::elu(inner)), pass));
}

at::Tensor gated(const at::Tensor& values) {
  const std::vector<at::Tensor> halves = values.chunk(2, 1);
  return halves[0] * halves[1].sigmoid();
}

}  // namespace harmonium
