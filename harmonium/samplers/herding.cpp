#include "harmonium/samplers/herding.h"

#include "harmonium/core/error.h"

namespace harmonium {

Herding::Herding(const BoltzmannMachine& machine, const Moments& target, const HerdingOptions& options)
    : options_(options),
      machine_(machine.precise_on_cpu()),
      target_(target.to(machine_.options()).clone()),
      total_(target_.zeros_like()) {
  require(options_.rate > 0, "herding needs a positive rate, not {}", options_.rate);
  require(options_.most_passes >= 1, "herding needs at least one pass over the blocks, not {}", options_.most_passes);
  (void)(target_ - machine_.parameters());  // refuses other names and shapes
  for (const EdgeInfo& edge : machine_.topology().edges)
    require(
        !edge.inner(),
        "herding updates a whole layer at once, which is wrong with edges inside a layer ({}); use gibbs or parallel_tempering",
        edge.weights);
  for (std::size_t layer = 0; layer < machine_.layers().size(); ++layer)
    // A step can drive its precision through zero, where no state is the best.
    require(machine_.unit(layer).state_count().has_value(),
            "herding needs layers with finitely many states, and layer '{}' is {}", machine_.layers()[layer].name,
            machine_.unit(layer).spec());
  for (const Layer& layer : machine_.layers())
    state_.layers.push_back(at::zeros({1, layer.unit->width()}, at::kDouble));
}

const State& Herding::step() {
  for (std::int64_t pass = 0; pass < options_.most_passes; ++pass) {
    bool changed = false;
    for (const LayerSet& block : machine_.blocks()) {
      const Fields fields = machine_.fields(block, state_);
      for (const std::size_t layer : block) {
        const at::Tensor best = machine_.unit(layer).mode(fields[layer], machine_.layer_parameters(layer));
        changed = changed || !at::equal(best, state_.layers[layer]);
        state_.layers[layer] = best;
      }
    }
    if (!changed) break;
  }
  const Moments statistics = machine_.moments(state_), missing = target_ - statistics;
  if (dot(machine_.parameters(), missing) > 0) ++shortfalls_;
  machine_.parameters().add_(missing, options_.rate);
  total_.add_(statistics);
  ++steps_;
  return state_;
}

Moments Herding::mean_statistics() const {
  require(steps_ > 0, "herding has made no step yet");
  return (1.0 / static_cast<double>(steps_)) * total_;
}

double Herding::moment_error() const { return norm(mean_statistics() - target_); }

}  // namespace harmonium
