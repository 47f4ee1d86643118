#include "harmonium/likelihood/missing_values.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/log_likelihood.h"

namespace harmonium {

namespace {

// The row 2^m times, with every way to fill in what it lacks.
at::Tensor all_completions(const at::Tensor& row, const at::Tensor& places) {
  const std::int64_t lacking = places.numel(), ways = std::int64_t{1} << lacking;
  const at::Tensor number = at::arange(ways, at::kLong).unsqueeze(1), bit = at::arange(lacking, at::kLong).unsqueeze(0);
  const at::Tensor bits = number.bitwise_right_shift(bit).bitwise_and(1).to(row.scalar_type());
  return row.unsqueeze(0).expand({ways, row.numel()}).clone().index_copy_(1, places, bits);
}

}  // namespace

at::Tensor log_unnormalized_of_known(const BoltzmannMachine& machine, const at::Tensor& rows) {
  constexpr std::int64_t at_once = std::int64_t{1} << most_missing_in_a_row;
  const at::Tensor missing = rows.isnan(), lacking = missing.sum(1);
  if (const at::Tensor many = lacking.gt(most_missing_in_a_row).nonzero(); many.size(0) > 0)
    fail("row {} (counted from 0) lacks {} values; at most {} can be summed out. Leave such rows out, or fill some in",
         many[0][0].item<std::int64_t>(), lacking[many[0][0].item<std::int64_t>()].item<std::int64_t>(),
         most_missing_in_a_row);
  at::Tensor result = at::empty({rows.size(0)}, at::kDouble);
  for (std::int64_t first = 0; first < rows.size(0);) {
    std::vector<at::Tensor> tables;
    std::int64_t size = 0, end = first;
    for (; end < rows.size(0); ++end) {
      const std::int64_t ways = std::int64_t{1} << lacking[end].item<std::int64_t>();
      if (size > 0 && size + ways > at_once) break;
      tables.push_back(all_completions(rows[end], missing[end].nonzero().view({-1})));
      size += ways;
    }
    const at::Tensor log_f = log_unnormalized(machine, machine.observe({at::cat(tables).to(machine.scalar_type())}));
    for (std::int64_t row = first, start = 0; row < end; ++row) {
      const std::int64_t ways = tables[static_cast<std::size_t>(row - first)].size(0);
      result[row] = log_f.narrow(0, start, ways).to(at::kDouble).logsumexp(0);
      start += ways;
    }
    first = end;
  }
  return result;
}

}  // namespace harmonium
