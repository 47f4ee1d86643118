#include "harmonium/gradients/hybrid.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/gradients/discriminative.h"

namespace harmonium {

Hybrid::Hybrid(std::unique_ptr<NegativePhase> generative, double generative_weight)
    : generative_(std::move(generative)), generative_weight_(generative_weight) {
  require(std::isfinite(generative_weight) && generative_weight > 0,
          "the weight of the generative part of a hybrid objective must be positive, not {}", generative_weight);
}

Moments Hybrid::model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) {
  generative_moments_ = generative_->model_moments(machine, data, key);
  model_ = class_moments(machine, data, generative_weight_);
  model_.add_(generative_moments_, generative_weight_);
  return model_.clone();
}

void Hybrid::observe_gradient(const Moments& gradient) {
  Moments own = gradient + model_;  // s_data
  own.add_(generative_moments_, -1);
  generative_->observe_gradient(own);
}

}  // namespace harmonium
