// Annealing a binary RBM on a CUDA device many steps at a time (kernels/rbm_chains.h): the same steps as
// AnnealingPath::move, with places rounded to float32 and, for the weights of a step, Gauss's rule in place of a
// difference of softplus.
#pragma once

#include <memory>

#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/annealing_path.h"

namespace harmonium {

class PathWalk {
 public:
  // Null where a path or a device wants its steps one by one.
  [[nodiscard]] static std::unique_ptr<PathWalk> make(const AnnealingPath& path);

  static constexpr std::int64_t steps_at_once = 256;
  static constexpr std::int64_t chains_at_once = 20480;  // more bring nothing, and fewer leave the device idle

  // Starts from a state whose kept layers are defined.
  void start(const State& state);
  // Goes from place to place: places are numbered as in the path, in either direction; keys are those of the moves.
  void go(const std::vector<std::int64_t>& places, const std::vector<Key>& keys, at::Tensor& log_weights);
  // All layers as they are now.
  [[nodiscard]] State state() const;

 private:
  explicit PathWalk(const AnnealingPath& path);

  const AnnealingPath& path_;
  RbmChains::Line line_;
  at::Tensor weights_;
  std::unique_ptr<RbmChains> chains_;
};

}  // namespace harmonium
