#include "harmonium/kernels/binary_product.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/picked_sums.h"
#include "harmonium/kernels/tile_sums.h"

namespace harmonium {

namespace {

// Below this many multiplications a dense product is over before a code is made.
constexpr std::int64_t least_products = 1 << 20;

// The bits of a table that is to be multiplied by so many columns; null where there are none or the product is small.
const BinaryTable* bits_worth_having(const CodedTable& x, std::int64_t width) {
  return x.codable() && x.rows() * x.columns() * width >= least_products ? x.bits() : nullptr;
}

void require_fit(const at::Tensor& start, const CodedTable& x, const at::Tensor& weights) {
  require(weights.dim() == 2 && x.columns() == weights.size(0),
          "a table with {} columns cannot be multiplied by a matrix with {} rows", x.columns(), weights.size(0));
  const bool fits = !start.defined() || (start.size(-1) == weights.size(1) &&
                                         (start.dim() == 1 || (start.dim() == 2 && start.size(0) == x.rows())));
  require(fits, "what a product is added to must be a row of {} numbers or a table of {} such rows", weights.size(1),
          x.rows());
}

// Sums of picked rows, start + x·weights, as numbers or drawn from; x is binary. Without tiles, a unit that deviates
// adds its row where it is usually off and takes it away where it is usually on.
void sum_picked_rows(const at::Tensor& start, const CodedTable& x, const at::Tensor& weights, const at::Tensor& out,
                     DrawnUnits* drawn = nullptr) {
  const at::Tensor beginning = start.defined() ? start.contiguous() : start;
  if (const TileLoops* tiles = tiles_for(x.rows())) {
    TileSums{.loops = *tiles, .bits = x.bits()->bits, .matrix = weights, .lasting = true, .start = beginning}.run(
        out, drawn);
    return;
  }
  const BinaryCode& code = *x.code();
  PickedSums{.bits = code.deviating,
             .group = cheapest_group(code),
             .matrix = weights,
             .negated = code.majority.row(0),
             .all_in_base = false,
             .start = beginning}
      .run(out, drawn);
}

at::Tensor dense_product(const at::Tensor& start, const at::Tensor& x, const at::Tensor& weights) {
  return start.defined() ? at::addmm(start, x, weights) : x.mm(weights);
}

// out = start + scale · xᵀ·y / rows; false (and nothing done) where x is no binary table, or small. Without tiles, the
// rows in which a unit deviates are added where it is usually off, and taken from the sum of all where it is on.
bool coded_outer_product(const CodedTable& x, const at::Tensor& y, double scale, const at::Tensor& start,
                         const at::Tensor& out) {
  const BinaryTable* table = bits_worth_having(x, y.size(1));
  if (table == nullptr) return false;
  const auto share = static_cast<float>(scale / static_cast<double>(table->bits.rows));
  if (const TileLoops* tiles = tiles_for(table->bits.columns)) {
    TileSums{.loops = *tiles, .bits = table->bits.transposed(), .matrix = y, .factor = share, .start = start}.run(out);
    return true;
  }
  const BinaryCode* code = x.code();
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
  if (bits_worth_having(x, weights.size(1)) == nullptr) return dense_product(start, x.table(), weights);
  at::Tensor out = at::empty({x.rows(), weights.size(1)}, at::kFloat);
  sum_picked_rows(start, x, weights, out);
  return out;
}

CodedTable draw_from_product(const Key& key, const at::Tensor& start, const CodedTable& x, const at::Tensor& weights,
                             at::Tensor* field) {
  require_fit(start, x, weights);
  const std::int64_t width = weights.size(1);
  if (width % 4 != 0 || bits_worth_having(x, width) == nullptr) {
    at::Tensor total = add_product(start, x, weights);
    if (field != nullptr) *field = total;
    return sample_logistic(key, total);
  }
  if (field != nullptr) *field = at::empty({x.rows(), width}, at::kFloat);
  DrawnUnits drawn(key, x.rows(), width);
  sum_picked_rows(start, x, weights, field == nullptr ? at::Tensor() : *field, &drawn);
  return CodedTable(drawn.take());
}

at::Tensor mean_outer_product(const CodedTable& x, const CodedTable& y) {
  require_pairs(x, y);
  if (bits_worth_having(x, y.columns()) != nullptr) {
    at::Tensor out = at::empty({x.columns(), y.columns()}, at::kFloat);
    coded_outer_product(x, y.table(), 1, {}, out);
    return out;
  }
  if (bits_worth_having(y, x.columns()) != nullptr) return mean_outer_product(y, x).t().contiguous();
  return x.table().t().mm(y.table()).div_(static_cast<double>(x.rows()));
}

void add_mean_outer_product_(at::Tensor& target, const CodedTable& x, const CodedTable& y, double scale) {
  require_pairs(x, y);
  require(target.dim() == 2 && target.size(0) == x.columns() && target.size(1) == y.columns(),
          "outer products of rows of {} and {} numbers are no matrix of {} × {}", x.columns(), y.columns(),
          target.size(0), target.size(-1));
  if (target.is_contiguous() && coded_outer_product(x, y.table(), scale, target, target)) return;
  if (bits_worth_having(y, x.columns()) != nullptr)
    target.add_(mean_outer_product(y, x).t(), scale);
  else
    target.addmm_(x.table().t(), y.table(), 1, scale / static_cast<double>(x.rows()));
}

}  // namespace harmonium
