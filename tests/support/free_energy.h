// Small covariance models in float64 with random parameters, one of each family and one with pooling.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "harmonium/kernels/random.h"
#include "harmonium/models/free_energy/covariance_model.h"

namespace harmonium::support {

struct CovarianceCase {
  std::string name;
  CovarianceStructure structure;
  friend void PrintTo(const CovarianceCase& one, std::ostream* out) { *out << one.name; }
};

// Of so many inputs.
inline std::vector<CovarianceCase> covariance_cases(std::int64_t inputs) {
  using enum CovarianceUnits;
  return {{"pot", {.inputs = inputs, .filters = inputs, .units = gammas, .contained = false}},
          {"pot_overcomplete", {.inputs = inputs, .filters = inputs + 2, .units = gammas, .contained = false}},
          {"mpot", {.inputs = inputs, .hidden = 2, .filters = 3, .units = gammas}},
          {"covariance_rbm", {.inputs = inputs, .filters = 3}},
          {"mcrbm", {.inputs = inputs, .hidden = 2, .filters = 3}},
          {"mcrbm_pooled", {.inputs = inputs, .hidden = 2, .filters = 4, .pooled = 2}}};
}

// Weights and biases ~ N(0, 1); exponents in [1.2, 2.2), where tails are light enough for quadrature and sampling.
inline Moments random_parameters(const CovarianceModel& model, std::uint64_t seed) {
  Moments theta = model.initial_parameters(Key(seed), at::kDouble);
  for (std::uint64_t i = 1; const auto& [name, value] : theta.entries()) {
    const Key key = Key(seed).fold_in(i++);
    at::Tensor target = value;
    if (name == "covariance.gamma")
      target.copy_(1.2 + uniform(key, value.sizes(), at::kDouble));
    else if (name == "pooling.weights")
      target.copy_(uniform(key, value.sizes(), at::kDouble));
    else
      target.copy_(normal(key, value.sizes(), at::kDouble));
  }
  model.constrain_(theta);
  return theta;
}

// The mcRBM whose log Z is 5.051593.
struct KnownMcrbm {
  CovarianceModel model = CovarianceModel({.inputs = 2, .hidden = 1, .filters = 2, .spread = 1});
  Moments theta = {{"filters.weights", at::tensor({1.5, 0.5, -1.0, 1.0}, at::kDouble).view({2, 2})},
                   {"covariance.bias", at::tensor({2.0, 1.0}, at::kDouble)},
                   {"visible.bias", at::tensor({0.2, -0.1}, at::kDouble)},
                   {"visible_hidden.weights", at::tensor({1.0, -0.5}, at::kDouble).view({2, 1})},
                   {"hidden.bias", at::tensor({-0.5}, at::kDouble)}};
};

}  // namespace harmonium::support
