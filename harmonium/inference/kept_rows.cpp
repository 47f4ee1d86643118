#include "harmonium/inference/kept_rows.h"

#include <ATen/ATen.h>

namespace harmonium {

void keep_rows(at::Tensor& kept, const at::Tensor& numbers, const at::Tensor& values) {
  at::Tensor last = values.to(kept.scalar_type());
  if (const std::int64_t all = kept.size(0); all % numbers.size(0) != 0) {
    // Copying two states to one place would leave either, and on a device now the one and now the other.
    const at::Tensor places = at::arange(numbers.size(0), numbers.options());
    last = last.index_select(
        0, at::zeros({all}, numbers.options()).scatter_reduce_(0, numbers, places, "amax").index_select(0, numbers));
  }
  kept.index_copy_(0, numbers, last);
}

}  // namespace harmonium
