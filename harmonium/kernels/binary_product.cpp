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

// out = start + scale · xᵀ·y / rows; false (and nothing done) where x is no binary table, or small. The rows in which a
// unit deviates are added where it is usually off, and taken from the sum of all where it is on.
bool coded_outer_product(const CodedTable& x, const at::Tensor& y, double scale, const at::Tensor& start,
                         const at::Tensor& out) {
  const BinaryCode* code = code_worth_having(x, y.size(1));
  if (code == nullptr) return false;
  const auto share = static_cast<float>(scale / static_cast<double>(code->deviating.rows));
  std::vector<Factors> factors(static_cast<std::size_t>(code->deviating.columns));
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = code->majority.at(0, static_cast<std::int64_t>(i)) ? Factors{share, -share} : Factors{0, share};
  PickedSums{.bits = code->deviating.transposed(),
             .group = cheapest_group_transposed(*code),
             .matrix = y,
             .negated = nullptr,
             .all_in_base = true,
             .factors = std::move(factors),
             .start = start}
      .run(out);
  return true;
}

void require_pairs(const CodedTable& x, const CodedTable& y) {
  require(x.rows() == y.rows(), "tables of {} and {} rows have no outer products", x.rows(), y.rows());
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
  return CodedTable(BinaryCode(std::move(drawn.bits), std::move(drawn.ones)));
}

at::Tensor mean_outer_product(const CodedTable& x, const CodedTable& y) {
  require_pairs(x, y);
  if (code_worth_having(x, y.columns()) != nullptr) {
    at::Tensor out = at::empty({x.columns(), y.columns()}, at::kFloat);
    coded_outer_product(x, y.table(), 1, {}, out);
    return out;
  }
  if (code_worth_having(y, x.columns()) != nullptr) return mean_outer_product(y, x).t().contiguous();
  return x.table().t().mm(y.table()).div_(static_cast<double>(x.rows()));
}

void add_mean_outer_product_(at::Tensor& target, const CodedTable& x, const CodedTable& y, double scale) {
  require_pairs(x, y);
  require(target.dim() == 2 && target.size(0) == x.columns() && target.size(1) == y.columns(),
          "outer products of rows of {} and {} numbers are no matrix of {} × {}", x.columns(), y.columns(),
          target.size(0), target.size(-1));
  if (target.is_contiguous() && coded_outer_product(x, y.table(), scale, target, target)) return;
  if (code_worth_having(y, x.columns()) != nullptr)
    target.add_(mean_outer_product(y, x).t(), scale);
  else
    target.addmm_(x.table().t(), y.table(), 1, scale / static_cast<double>(x.rows()));
}

}  // namespace harmonium
