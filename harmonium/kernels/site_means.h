// One sweep of mean field in a layer whose units are joined to each other, for many rows at once.
//
// Units (or softmax groups) are set one after another to the mean of their field given the current means of all others;
// a row's fields follow by adding a row of the couplings at every unit. Cost: width² for each row. With damping d a
// unit's own field goes to (1 − d) · its total input + d · what it was, and its mean is the mean of that.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace harmonium {

struct SiteMeans {
  at::Tensor total;          // rows × width: total input of every unit given all means; written over on the way
  at::Tensor field;          // rows × width: fields that the means are the means of
  at::Tensor couplings;      // width × width: what a unit adds to the input of the others; symmetric, 0 within a group
  std::int64_t columns = 1;  // 1: binary units; K: groups of K
  double damping = 0;
};

// Means and fields after the sweep. Made on the CPU; tensors on a device go there and back.
[[nodiscard]] std::pair<at::Tensor, at::Tensor> site_means(const at::Tensor& means, SiteMeans sweep);

}  // namespace harmonium
