#include "harmonium/families/rolls.h"

#include <ATen/ATen.h>

namespace harmonium {

at::Tensor as_rolls(const at::Tensor& rows, std::int64_t frames) {
  const std::int64_t columns = rows.size(1), sequences = rows.size(0) / frames;
  return rows.reshape({sequences, frames, columns}).transpose(1, 2).flip({1}).reshape({sequences, columns * frames});
}

}  // namespace harmonium
