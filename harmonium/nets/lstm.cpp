#include "harmonium/nets/lstm.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

LstmCell::LstmCell(std::string prefix, std::int64_t inputs, std::int64_t units)
    : prefix_(std::move(prefix)), inputs_(inputs), units_(units) {
  require(inputs_ >= 1 && units_ >= 1, "the recurrent layer '{}' needs inputs and units, not {} and {}", prefix_,
          inputs_, units_);
}

void LstmCell::declare(Moments& parameters, at::ScalarType type) const {
  parameters.insert(prefix_ + "weights", at::zeros({inputs_ + units_, 4 * units_}, type));
  parameters.insert(prefix_ + "bias", at::zeros({4 * units_}, type));
  parameters.insert(prefix_ + "start", at::zeros({2 * units_}, type));
}

void LstmCell::initialize(Moments& parameters, const Key& key) const {
  at::Tensor& weights = parameters[prefix_ + "weights"];
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs_ + 2 * units_));
  weights.copy_(uniform(key, weights.sizes(), weights.options()).mul_(2 * bound).sub_(bound));
  at::Tensor& bias = parameters[prefix_ + "bias"];
  bias.zero_();
  bias.narrow(0, units_, units_).fill_(1);  // f
  parameters[prefix_ + "start"].zero_();
}

LstmCell::State LstmCell::begin(const Moments& parameters, std::int64_t rows) const {
  const at::Tensor start = parameters[prefix_ + "start"].expand({rows, 2 * units_});
  return {.output = start.narrow(1, 0, units_), .memory = start.narrow(1, units_, units_)};
}

LstmCell::State LstmCell::step(const Moments& parameters, const at::Tensor& input, const State& before) const {
  require(input.dim() == 2 && input.size(1) == inputs_, "the recurrent layer '{}' takes rows of {} values, not of {}",
          prefix_, inputs_, input.dim() == 2 ? input.size(1) : -1);
  const at::Tensor total =
      at::addmm(parameters[prefix_ + "bias"], at::cat({input, before.output}, 1), parameters[prefix_ + "weights"]);
  const std::vector<at::Tensor> gates = total.narrow(1, 0, 3 * units_).sigmoid().chunk(3, 1);
  const at::Tensor memory = gates[1] * before.memory + gates[0] * total.narrow(1, 3 * units_, units_).tanh();
  return {.output = gates[2] * memory.tanh(), .memory = memory};
}

}  // namespace harmonium
