// Small spike-and-slab RBMs in float64.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "harmonium/kernels/random.h"
#include "harmonium/models/free_energy/spike_slab_model.h"

namespace harmonium::support {

struct SpikeSlabCase {
  std::string name;
  SpikeSlabStructure structure;
  friend void PrintTo(const SpikeSlabCase& one, std::ostream* out) { *out << one.name; }
};

inline std::vector<SpikeSlabCase> spike_slab_cases(std::int64_t inputs, std::int64_t hidden) {
  return {{"plain", {.inputs = inputs, .hidden = hidden}},
          {"with_penalties", {.inputs = inputs, .hidden = hidden, .penalties = true}},
          {"definite_by_penalties",
           {.inputs = inputs, .hidden = hidden, .penalties = true, .definite = SpikeSlabDefinite::penalty}}};
}

// Directions at random, and units that are on now and then; in the domain.
inline Moments random_spike_slab(const SpikeSlabModel& model, std::uint64_t seed) {
  Moments theta = model.initial_parameters(Key(seed), at::kDouble);
  const auto noise = [&](const char* name, std::uint64_t stream) {
    return normal(Key(seed).fold_in(stream), theta[name].sizes(), at::kDouble);
  };
  theta["visible.bias"].copy_(0.5 * noise("visible.bias", 1));
  theta["visible.log_precision"].copy_(0.3 * noise("visible.log_precision", 2));
  theta["hidden.bias"].copy_(noise("hidden.bias", 3) - 0.5);
  theta["hidden.mean"].copy_(0.5 * noise("hidden.mean", 4));
  theta["hidden.log_precision"].copy_(2.3 + 0.3 * noise("hidden.log_precision", 5));
  if (theta.contains("penalty.weights")) theta["penalty.weights"].copy_(0.3 * noise("penalty.weights", 6).abs());
  model.constrain_(theta);
  return theta;
}

// The one whose log Z is 2.684063, or the same with penalties.
struct KnownSsrbm {
  explicit KnownSsrbm(double penalty = 0)
      : model({.inputs = 2, .hidden = 2, .penalties = penalty > 0}),
        theta{{"visible.bias", at::tensor({0.1, -0.2}, at::kDouble)},
              {"visible.log_precision", at::tensor({1.0, 1.5}, at::kDouble).log()},
              {"visible_hidden.weights", at::tensor({0.6, 0.3, -0.4, 0.7}, at::kDouble).view({2, 2})},
              {"hidden.bias", at::tensor({-1.0, -0.5}, at::kDouble)},
              {"hidden.mean", at::tensor({0.5, -0.3}, at::kDouble)},
              {"hidden.log_precision", at::tensor({1.0, 2.0}, at::kDouble).log()}} {
    if (penalty > 0) theta.insert("penalty.weights", at::full({2, 2}, penalty, at::kDouble));
  }

  SpikeSlabModel model;
  Moments theta;
};

}  // namespace harmonium::support
