#include "harmonium/families/implied_covariance.h"

#include <algorithm>

#include "harmonium/core/format.h"

namespace harmonium {

std::optional<Exhibit> covariance_eigenvectors(const FreeEnergyModel& model, const Moments& theta,
                                               const Whitening& whitening, const Dataset& rows) {
  constexpr std::int64_t most_rows = 6, columns = 12, most_inputs = 400;
  const std::int64_t D = model.inputs(), count = std::min(most_rows, rows.rows());
  if (count == 0 || D > most_inputs || rows.columns() != D) return std::nullopt;
  const Moments exact = theta.to(at::kDouble);
  const at::Tensor shown = rows.first(count).to_float(), v = whitening.apply(shown);
  const at::Tensor back = whitening.undo(at::eye(D, at::kDouble)) - whitening.mean;  // A: x − mean = vA
  const std::int64_t leading = std::min(columns - 1, D);
  std::vector<at::Tensor> pictures;
  for (std::int64_t row = 0; row < count; ++row) {
    const at::Tensor precision = model.precision_given(v.narrow(0, row, 1), exact);
    if (!precision.defined()) return std::nullopt;
    const auto [factor, failed] = at::linalg_cholesky_ex(precision);
    if (failed.item<std::int64_t>() != 0) return std::nullopt;
    const at::Tensor root = at::linalg_solve_triangular(factor, back, /*upper=*/false);  // covariance = rootᵀ root
    const auto [variances, directions] = at::linalg_eigh(root.t().matmul(root));
    const at::Tensor away = shown.narrow(0, row, 1).to(at::kDouble) - whitening.mean;
    pictures.push_back(away / away.abs().max().clamp_min(1e-12));
    pictures.push_back(directions.narrow(1, D - leading, leading).flip(1).t());
  }
  return Exhibit{.id = "covariance_eigenvectors",
                 .title = "Covariance around a row",
                 .caption = format("{} training rows, one in each line: the row less the mean, then the {} directions "
                                   "in which it may vary most while its hidden units keep their means. Each picture "
                                   "has its own scale.",
                                   count, leading),
                 .rows = at::cat(pictures).to(at::kFloat).contiguous(),
                 .weights = true,
                 .columns = leading + 1};
}

}  // namespace harmonium
