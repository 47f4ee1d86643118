// log Z of a machine that is being trained, followed along the training itself.
//
// A crowd of chains starts with draws of a base whose Z is known and is annealed from model to model as training goes
// on: straight lines of natural parameters from one look at the model to the next, a few steps each. It is annealed
// importance sampling whose path is the training (Desjardins, Courville & Bengio 2011 follow Z in the same spirit), so
// the estimate of Z is unbiased after every look, and its logarithm low in expectation. One look costs a few steps
// where annealing from the base would cost thousands. Where the weights become unequal, chains are drawn again by their
// weights (systematic resampling), which leaves the estimate unbiased.
//
// Everything random comes from (key, number of the look): a crowd that is restored goes on bit by bit.
#pragma once

#include "harmonium/core/named_tensors.h"
#include "harmonium/likelihood/base_model.h"

namespace harmonium {

class RunningLogZ {
 public:
  RunningLogZ(const BaseModel& base, std::int64_t chains, const Key& key);

  // Anneals from where it stands to `machine`, whose parameters are copied.
  void go_to(const BoltzmannMachine& machine, std::int64_t steps);

  [[nodiscard]] double log_z() const;
  // The fewest that there were at any look: bad weights are not forgotten when chains are drawn again.
  [[nodiscard]] double effective_samples() const { return fewest_effective_; }

  // Names start with "running_log_z/".
  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  void resample();

  BoltzmannMachine at_;  // with parameters of its own
  State chains_;         // at least the layers that annealing keeps
  LayerSet kept_;
  at::Tensor log_weights_;  // since chains were last drawn again; float64, where the machine is
  double log_z_;            // until then
  double fewest_effective_;
  std::int64_t looks_ = 0;
  Key key_;
};

}  // namespace harmonium
