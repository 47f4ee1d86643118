#include "harmonium/likelihood/path_walk.h"

#include "harmonium/models/builders.h"

namespace harmonium {

namespace {

// Gauss's rule with two points is off by d⁵/35 000 at most for a field that moves by d: nothing, while fields of some
// tens move by this share of themselves.
constexpr double longest_step = 1.0 / 400;

}  // namespace

std::unique_ptr<PathWalk> PathWalk::make(const AnnealingPath& path) {
  const AnnealingPath::Line* line = path.straight_line();
  if (line == nullptr || !is_binary_rbm(path.target())) return nullptr;
  if (!RbmChains::serve(path.target().parameters()[path.target().topology().edges[0].weights])) return nullptr;
  const std::vector<double>& places = path.places();
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] > longest_step) return nullptr;
  return std::unique_ptr<PathWalk>(new PathWalk(path));
}

PathWalk::PathWalk(const AnnealingPath& path)
    : path_(path), weights_(path.target().parameters()[path.target().topology().edges[0].weights].contiguous()) {
  const AnnealingPath::Line& line = *path.straight_line();
  const auto bias = [](const BoltzmannMachine& machine, std::size_t layer) {
    return machine.layer_parameters(layer)[0].contiguous();
  };
  line_ = {.visible_base = bias(line.start, 0),
           .visible_slope = line.slope[0][0].contiguous(),
           .hidden_base = bias(line.start, 1),
           .hidden_slope = line.slope[1][0].contiguous(),
           .keep_visible = path.kept().front() == 0};
}

void PathWalk::start(const State& state) {
  chains_ = std::make_unique<RbmChains>(weights_, state.rows());
  chains_->arrange(weights_);
  chains_->set(state.layers[0], state.layers[1]);
}

void PathWalk::go(const std::vector<std::int64_t>& places, const std::vector<Key>& keys, at::Tensor& log_weights) {
  std::vector<float> at;
  for (const std::int64_t place : places)
    at.push_back(static_cast<float>(path_.places()[static_cast<std::size_t>(place)]));
  std::vector<StepKeys> step_keys;
  for (const Key& key : keys) step_keys.push_back({key.fold_in(0).bits(), key.fold_in(1).bits()});
  chains_->anneal(line_, at, step_keys, log_weights);
}

State PathWalk::state() const {
  State state;
  state.layers = {chains_->visible(), chains_->hidden()};
  return state;
}

}  // namespace harmonium
