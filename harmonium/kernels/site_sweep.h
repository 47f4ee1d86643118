// One sweep of single-site Gibbs sampling in a layer whose units are joined to each other, for many chains at once.
//
// Units (or softmax groups) are redrawn one after another given all others. A chain's field follows by adding a row of
// the couplings whenever a unit changes, so a sweep costs as many rows as there are changes. Each chain goes through
// its units forwards or backwards, by a throw of a coin: that makes the sweep reversible, which weights of annealed
// importance sampling walked backwards rest on.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

struct SiteSweep {
  at::Tensor field;          // rows × width: total input of every unit given all others; written over on the way
  at::Tensor couplings;      // width × width: what a unit adds to the field of the others; symmetric, 0 within a group
  double scale = 1;          // of the couplings
  std::int64_t columns = 1;  // 1: binary units; K: one-hot groups of K
  at::Tensor held = {};      // rows (or 1) × width, bool: units that keep their value; undefined: none
};

// The state after the sweep. It is made on the CPU, and tensors on a device go there and back: units wait for each
// other. Element i of the state uses uniform i of the key's stream (a group: that of its first).
[[nodiscard]] at::Tensor site_sweep(const Key& key, const at::Tensor& state, SiteSweep sweep);

}  // namespace harmonium
