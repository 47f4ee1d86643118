#include "harmonium/likelihood/annealing.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/tile_sums.h"
#include "harmonium/likelihood/path_walk.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

// One group of chains on its way: all that is needed to go on after any step.
struct Crowd {
  State state;
  at::Tensor log_weights;
  std::int64_t step = 0;

  [[nodiscard]] NamedTensors tensors(const LayerSet& kept, bool finished) const {
    NamedTensors all = {{"step", at::scalar_tensor(step, at::kLong)}, {"log_weights", log_weights}};
    if (!finished)
      for (const std::size_t layer : kept) all.emplace_back(format("layer{}", layer), state.layers[layer]);
    return all;
  }
  // False, with nothing changed, where the tensors are not those of so many chains on this path: the work is then done
  // anew.
  [[nodiscard]] bool restore(const NamedTensors& tensors, const AnnealingPath& path, std::int64_t chains) {
    const BoltzmannMachine& target = path.target();
    const auto get = [&](const std::string& name, at::IntArrayRef shape) {
      for (const auto& [key, value] : tensors)
        if (key == name && value.sizes() == shape) return value.to(target.device()).clone();
      return at::Tensor();
    };
    const at::Tensor done = get("step", {}), weights = get("log_weights", {chains});
    if (!done.defined() || done.scalar_type() != at::kLong || !weights.defined() ||
        weights.scalar_type() != at::kDouble)
      return false;
    const auto at_step = done.item<std::int64_t>();
    if (at_step < 0 || at_step > path.steps()) return false;
    State kept;
    kept.layers.resize(target.layers().size());
    if (at_step < path.steps())
      for (const std::size_t layer : path.kept()) {
        at::Tensor& values = kept.layers[layer];
        values = get(format("layer{}", layer), {chains, target.unit(layer).width()});
        if (!values.defined() || !values.is_floating_point() || !at::isfinite(values).all().item<bool>()) return false;
      }
    step = at_step;
    log_weights = weights;
    state = std::move(kept);
    return true;
  }
};

Key key_of_step(const Key& key, std::int64_t step) { return key.fold_in(1).fold_in(static_cast<std::uint64_t>(step)); }

// Both ways a path of K places is walked in K steps.
void take_step(const AnnealingPath& path, Way way, Crowd& crowd, const Key& key) {
  const std::int64_t all = path.steps(), k = crowd.step + 1;
  const Key step_key = key_of_step(key, k);
  if (way == Way::up) {
    path.move(crowd.state, k - 1, k, step_key, crowd.log_weights);
  } else {
    if (k == 1)
      for (const LayerSet& block : {path.summed(), path.kept()})
        (void)sample_layers(path.target(), crowd.state, key.fold_in(2), block);
    path.move(crowd.state, all - k + 1, all - k, step_key, crowd.log_weights);
  }
  crowd.step = k;
}

// The same steps, as many as are taken at once.
void take_steps(const AnnealingPath& path, Way way, PathWalk& walk, Crowd& crowd, const Key& key) {
  const std::int64_t all = path.steps(), end = std::min(crowd.step + PathWalk::steps_at_once, all);
  const auto place = [&](std::int64_t step) { return way == Way::up ? step : all - step; };
  std::vector<std::int64_t> places = {place(crowd.step)};
  std::vector<Key> keys;
  while (crowd.step < end) {
    ++crowd.step;
    places.push_back(place(crowd.step));
    keys.push_back(key_of_step(key, crowd.step));
  }
  walk.go(places, keys, crowd.log_weights);
  wait_for_device(crowd.log_weights);  // so that progress is not told of what was only begun
}

}  // namespace

at::Tensor anneal(const AnnealingPath& path, Way way, std::int64_t chains,
                  const std::function<State(std::int64_t, std::int64_t, const Key&)>& start,
                  const AnnealingOptions& options) {
  require(chains >= 1, "annealing needs at least one chain, not {}", chains);
  require(options.chains_at_once >= 1, "annealing needs at least one chain at once, not {}", options.chains_at_once);
  const Key root = Key(options.seed).fold_in(way == Way::up ? 0xA15 : 0x4A15E);
  const std::unique_ptr<PathWalk> walk = options.observe ? nullptr : PathWalk::make(path);
  const std::int64_t at_once =
      walk == nullptr ? options.chains_at_once : std::max(options.chains_at_once, PathWalk::chains_at_once);
  const std::int64_t groups = (chains + at_once - 1) / at_once, steps = path.steps();
  std::vector<at::Tensor> weights;
  const KeptDigits digits;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t first = group * at_once;
    const std::int64_t count = std::min(at_once, chains - first);
    const Key key = root.fold_in(static_cast<std::uint64_t>(group));
    // Work in other groups is other work: a question that was begun on the CPU is begun anew on a device.
    const std::string name = at_once == options.chains_at_once ? format("{}-{}", options.name, group)
                                                               : format("{}-{}-of-{}", options.name, group, at_once);
    Crowd crowd;
    const auto kept_work = options.journal != nullptr ? options.journal->find(name) : std::nullopt;
    if (!kept_work || !crowd.restore(*kept_work, path, count)) {
      crowd.state = start(first, count, key.fold_in(0));
      crowd.log_weights = at::zeros({count}, path.target().options(at::kDouble));
    }
    bool walking = false;
    const auto keep = [&] {
      if (walking) crowd.state = walk->state();
      if (options.journal != nullptr) options.journal->keep(name, crowd.tensors(path.kept(), crowd.step == steps));
    };
    try {
      while (crowd.step < steps) {
        // The first step down is another one.
        if (walk == nullptr || (way == Way::down && crowd.step == 0)) {
          take_step(path, way, crowd, key);
        } else {
          if (!walking) walk->start(crowd.state);
          walking = true;
          take_steps(path, way, *walk, crowd, key);
        }
        if (options.observe) options.observe(crowd.step, crowd.log_weights);
        if (options.journal != nullptr && (crowd.step == steps || options.journal->due())) keep();
        if (options.progress) options.progress(group * steps + crowd.step, groups * steps);
      }
    } catch (const RunFailure&) {  // how a caller stops the work
      keep();
      throw;
    }
    weights.push_back(on_cpu(crowd.log_weights));
  }
  return at::cat(weights);
}

}  // namespace harmonium
