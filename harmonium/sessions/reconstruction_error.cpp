#include "harmonium/sessions/reconstruction_error.h"

#include <algorithm>
#include <cmath>

#include "harmonium/training/net_error.h"

namespace harmonium {

ReconstructionError reconstruction_error(const Dataset& data, Binarization binarization,
                                         const std::function<at::Tensor(const at::Tensor&)>& rebuild) {
  const std::int64_t rows = data.rows();
  const at::Tensor errors = at::empty({rows}, at::kDouble);
  constexpr std::int64_t rows_at_once = 1000;
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, rows);
    const at::Tensor values = shown_values(data.slice(first, end), binarization);
    errors.narrow(0, first, end - first).copy_((rebuild(values) - values).to(at::kDouble).square().sum(1));
  }
  const double mean = errors.mean().item<double>();
  const double half = rows > 1 ? 1.96 * errors.std().item<double>() / std::sqrt(static_cast<double>(rows)) : 0;
  return {.mean = mean, .low = mean - half, .high = mean + half, .rows = rows};
}

}  // namespace harmonium
