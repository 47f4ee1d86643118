#include "harmonium/nets/gru.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

GruCell::GruCell(std::string prefix, std::int64_t inputs, std::int64_t units)
    : prefix_(std::move(prefix)), inputs_(inputs), units_(units) {
  require(inputs_ >= 1 && units_ >= 1, "the recurrent layer '{}' needs inputs and units, not {} and {}", prefix_,
          inputs_, units_);
}

void GruCell::declare(Moments& parameters, at::ScalarType type) const {
  parameters.insert(prefix_ + "input_weights", at::zeros({inputs_, 3 * units_}, type));
  parameters.insert(prefix_ + "state_weights", at::zeros({units_, 3 * units_}, type));
  parameters.insert(prefix_ + "bias", at::zeros({3 * units_}, type));
  parameters.insert(prefix_ + "start", at::zeros({units_}, type));
}

void GruCell::initialize(Moments& parameters, const Key& key) const {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs_ + 2 * units_));
  for (std::uint64_t part = 0; const char* name : {"input_weights", "state_weights"}) {
    at::Tensor& weights = parameters[prefix_ + name];
    weights.copy_(uniform(key.fold_in(part++), weights.sizes(), weights.options()).mul_(2 * bound).sub_(bound));
  }
  parameters[prefix_ + "bias"].zero_();
  parameters[prefix_ + "start"].zero_();
}

at::Tensor GruCell::begin(const Moments& parameters, std::int64_t rows) const {
  return parameters[prefix_ + "start"].expand({rows, units_});
}

at::Tensor GruCell::step(const Moments& parameters, const at::Tensor& input, const at::Tensor& before) const {
  require(input.dim() == 2 && input.size(1) == inputs_, "the recurrent layer '{}' takes rows of {} values, not of {}",
          prefix_, inputs_, input.dim() == 2 ? input.size(1) : -1);
  const at::Tensor given = at::addmm(parameters[prefix_ + "bias"], input, parameters[prefix_ + "input_weights"]);
  const at::Tensor kept = before.matmul(parameters[prefix_ + "state_weights"]);
  const std::vector<at::Tensor> gates =
      (given.narrow(1, 0, 2 * units_) + kept.narrow(1, 0, 2 * units_)).sigmoid().chunk(2, 1);
  const at::Tensor proposed =
      (given.narrow(1, 2 * units_, units_) + gates[1] * kept.narrow(1, 2 * units_, units_)).tanh();
  return proposed + gates[0] * (before - proposed);
}

}  // namespace harmonium
