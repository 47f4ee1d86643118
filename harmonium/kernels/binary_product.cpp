#include "harmonium/kernels/binary_product.h"

#include <optional>

#include "harmonium/core/error.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/picked_sums.h"

namespace harmonium {

namespace {

// Below this many multiplications a dense product is over before a code is made.
constexpr std::int64_t least_products = 1 << 20;

// The code of a table that is to be multiplied by so many columns; null where there is none or the product is small.
const BinaryCode* code_worth_having(const CodedTable& x, std::int64_t width) {
  return x.codable() && x.rows() * x.columns() * width >= least_products ? x.code() : nullptr;
}

void require_fit(const at::Tensor& start, const CodedTable& x, const at::Tensor& weights) {
  require(weights.dim() == 2 && x.columns() == weights.size(0),
          "a table with {} columns cannot be multiplied by a matrix with {} rows", x.columns(), weights.size(0));
  const bool fits = !start.defined() || (start.size(-1) == weights.size(1) &&
                                         (start.dim() == 1 || (start.dim() == 2 && start.size(0) == x.rows())));
  require(fits, "what a product is added to must be a row of {} numbers or a table of {} such rows", weights.size(1),
          x.rows());
}

// x·weights as sums of picked rows; nothing where it is no binary table, or small. A unit that deviates adds its row
// where it is usually off and takes it away where it is usually on.
std::optional<PickedSums> coded_product(const at::Tensor& start, const CodedTable& x, const at::Tensor& weights) {
  const BinaryCode* code = code_worth_having(x, weights.size(1));
  if (code == nullptr) return std::nullopt;
  return PickedSums{.bits = code->deviating,
                    .group = cheapest_group(*code),
                    .matrix = weights,
                    .negated = code->majority.row(0),
                    .all_in_base = false,
                    .start = start.defined() ? start.contiguous() : start};
}

at::Tensor dense_product(const at::Tensor& start, const at::Tensor& x, const at::Tensor& weights) {
  return start.defined() ? at::addmm(start, x, weights) : x.mm(weights);
}

// The rows in which a unit deviates are added where it is usually off, and taken from the sum of all where it is on.
at::Tensor coded_outer_product(const CodedTable& x, const at::Tensor& y) {
  const BinaryCode* code = code_worth_having(x, y.size(1));
  if (code == nullptr) return {};
  const float share = 1 / static_cast<float>(code->deviating.rows);
  std::vector<Factors> factors(static_cast<std::size_t>(code->deviating.columns));
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = code->majority.at(0, static_cast<std::int64_t>(i)) ? Factors{share, -share} : Factors{0, share};
  const BitTable turned = code->deviating.transposed();
  at::Tensor out = at::empty({turned.rows, y.size(1)}, at::kFloat);
  PickedSums{.bits = turned,
             .group = cheapest_group_transposed(*code),
             .matrix = y,
             .negated = nullptr,
             .all_in_base = true,
             .factors = std::move(factors)}
      .run(out);
  return out;
}

}  // namespace

at::Tensor add_product(const at::Tensor& start, const CodedTable& x, const at::Tensor& weights) {
  require_fit(start, x, weights);
  const auto sums = coded_product(start, x, weights);
  if (!sums) return dense_product(start, x.table(), weights);
  at::Tensor out = at::empty({x.rows(), weights.size(1)}, at::kFloat);
  sums->run(out);
  return out;
}

CodedTable draw_from_product(const Key& key, const at::Tensor& start, const CodedTable& x, const at::Tensor& weights,
                             at::Tensor* field) {
  require_fit(start, x, weights);
  const std::int64_t width = weights.size(1);
  const auto sums = width % 4 == 0 ? coded_product(start, x, weights) : std::nullopt;
  if (!sums) {
    at::Tensor total = add_product(start, x, weights);
    if (field != nullptr) *field = total;
    return sample_logistic(key, total);
  }
  if (field != nullptr) *field = at::empty({x.rows(), width}, at::kFloat);
  DrawnUnits drawn(key, x.rows(), width);
  sums->run(field == nullptr ? at::Tensor() : *field, &drawn);
  return CodedTable(BinaryCode(std::move(drawn.bits), drawn.ones));
}

at::Tensor mean_outer_product(const CodedTable& x, const CodedTable& y) {
  require(x.rows() == y.rows(), "tables of {} and {} rows have no outer products", x.rows(), y.rows());
  if (at::Tensor result = coded_outer_product(x, y.table()); result.defined()) return result;
  if (const at::Tensor result = coded_outer_product(y, x.table()); result.defined()) return result.t().contiguous();
  return x.table().t().mm(y.table()).div_(static_cast<double>(x.rows()));
}

}  // namespace harmonium
