// The squared error of what a code gives back: what `reconstruct` and experiments have in common.
#pragma once

#include <functional>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct ReconstructionError {
  double mean = 0, low = 0, high = 0;  // per row; the 95 % interval is that of further rows like these
  std::int64_t rows = 0;
};

// `rebuild` maps rows, as shown (training/net_error.h), to what is left of them.
[[nodiscard]] ReconstructionError reconstruction_error(const Dataset& data, Binarization binarization,
                                                       const std::function<at::Tensor(const at::Tensor&)>& rebuild);

}  // namespace harmonium
