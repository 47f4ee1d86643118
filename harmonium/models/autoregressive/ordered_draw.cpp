#include "harmonium/models/autoregressive/ordered_draw.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

std::int64_t first_free_place(const at::Tensor& known, const std::vector<std::int64_t>& order) {
  const auto variables = static_cast<std::int64_t>(order.size());
  require(known.dim() == 2 && known.size(0) >= 1 && known.size(1) % variables == 0,
          "a net of {} variables completes rows of as many", variables);
  // A variable is free where any of its columns is; the known ones must be the same in every row.
  const at::Tensor free = known.isnan().cpu().reshape({known.size(0), variables, -1}).any(2);
  require(
      free.eq(free.narrow(0, 0, 1)).all().item<bool>(),
      "rows to complete must have the same known variables, since the order of this net is fixed; complete them one "
      "by one, or train an orderless_nade");
  const at::Tensor in_order = free[0].index_select(0, at::tensor(order, at::kLong)).contiguous();
  const bool* is_free = in_order.data_ptr<bool>();
  const std::int64_t first = std::find(is_free, is_free + variables, true) - is_free;
  const std::int64_t late = std::find(is_free + first, is_free + variables, false) - is_free;
  require(late == variables,
          "this net draws exactly only what comes after all known variables in its order: variable {} is known, but "
          "variable {}, which is not, comes before it; train a net whose order begins with the known ones, or an "
          "orderless_nade",
          late == variables ? 0 : order[static_cast<std::size_t>(late)],
          late == variables ? 0 : order[static_cast<std::size_t>(std::min(first, variables - 1))]);
  return first;
}

}  // namespace harmonium
