// A sparsity target: hidden units are drawn towards being active a given fraction of the time.
//
//   q_j ← λ q_j + (1 − λ) mean over the batch of E[h_j | v]        (running average of activity)
//   gradient of b_j  += cost (target − q_j),   of W_ij += cost (target − q_j) E_data[v_i]
//
// as in Hinton's practical guide: the gradient of the cross-entropy between target and activity, with respect to the
// input of the unit. For hidden layers of binary units; others have no fraction to be active.
#pragma once

#include "harmonium/core/moments.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct SparsityOptions {
  double target = 0.1;
  double cost = 0;      // 0: no such thing
  double decay = 0.95;  // λ
};

class Sparsity {
 public:
  // Fails where no hidden layer is of binary units, unless the cost is zero.
  Sparsity(const BoltzmannMachine& machine, const SparsityOptions& options);

  // Takes the activity from the moments of a batch.
  void observe(const Moments& data);
  // Adds the pull towards the target to the gradient of the same batch.
  void pull_(Moments& gradient) const;

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  struct Edge {
    std::string weights;
    std::string neighbour_bias;  // whose statistic is the neighbour's mean
    bool hidden_is_upper = true;
    at::Tensor neighbour_mean = {};  // in the batch
  };
  struct Layer {
    std::string bias;
    std::vector<Edge> edges;
    at::Tensor activity;  // undefined before the first batch
  };

  SparsityOptions options_;
  std::vector<Layer> layers_;
};

}  // namespace harmonium
