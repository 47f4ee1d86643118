#include "harmonium/kernels/binary_product.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/binary_code.h"
#include "harmonium/kernels/column_blocks.h"
#include "harmonium/kernels/vector_loops.h"

namespace harmonium {

namespace {

// Below this many multiplications a dense product is over before a code is made.
constexpr std::int64_t least_products = 1 << 20;
// A row that is picked costs about as much as so many terms of a dense product (docs/design_notes.md).
constexpr double cost_of_a_pick = 2.5;

bool worth_coding(const at::Tensor& x, std::int64_t width) {
  return x.dim() == 2 && x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous() &&
         x.numel() * width >= least_products;
}

bool pays(const BinaryCode& code) {
  return cost_of_a_pick * static_cast<double>(code.deviations) <
         static_cast<double>(code.deviating.rows * code.deviating.columns);
}

// For every row of bits, sums of the rows of a matrix that they pick. A thread copies a column block and works through
// all rows before it takes the next, so that a block is fetched once.
struct PickedSums {
  const BitTable& bits;
  const at::Tensor& matrix;
  const std::uint64_t* negated;  // rows of the matrix that count negatively; null: none
  bool all_in_base;              // the base is the sum of all rows; else minus that of the negated ones, as copied
  std::vector<Factors> factors = {};
  at::Tensor start = {};

  [[nodiscard]] at::Tensor run() const {
    const ColumnBlocks blocks(matrix);
    at::Tensor out = at::empty({bits.rows, blocks.columns()}, at::kFloat);
    // Pieces of rows only where there are too few blocks to go round.
    const std::int64_t pieces = std::min(bits.rows, (at::get_num_threads() + blocks.count() - 1) / blocks.count());
    at::parallel_for(0, blocks.count() * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      at::Tensor scratch = at::empty({blocks.rows() + 1, block_columns}, at::kFloat);
      float *copy = scratch.data_ptr<float>(), *base = copy + blocks.rows() * block_columns;
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t block = task / pieces, piece = task % pieces;
        if (task == begin || piece == 0) {
          blocks.copy(block, negated, copy);
          set_base(copy, blocks.rows(), base);
        }
        vector_loops().sum_rows(of_block(blocks, block, copy, base, out), bits.rows * piece / pieces,
                                bits.rows * (piece + 1) / pieces);
      }
    });
    return out;
  }

 private:
  void set_base(const float* copy, std::int64_t rows, float* base) const {
    std::fill_n(base, block_columns, 0.0F);
    for (std::int64_t row = 0; row < rows; ++row, copy += block_columns) {
      const bool flipped = negated != nullptr && (negated[row / word_bits] >> row % word_bits & 1) != 0;
      if (!all_in_base && !flipped) continue;
      const float sign = flipped ? -1.0F : 1.0F;
      for (std::int64_t j = 0; j < block_columns; ++j) base[j] += sign * copy[j];
    }
  }

  [[nodiscard]] RowSums of_block(const ColumnBlocks& blocks, std::int64_t block, const float* copy, const float* base,
                                 at::Tensor& out) const {
    const std::int64_t column = block * block_columns;
    return {.bits = bits.row(0),
            .words = bits.words,
            .block = copy,
            .base = base,
            .factors = factors.empty() ? nullptr : factors.data(),
            .start = start.defined() ? start.data_ptr<float>() + column : nullptr,
            .start_stride = start.defined() && start.dim() == 2 ? blocks.columns() : 0,
            .out = out.data_ptr<float>() + column,
            .out_stride = blocks.columns(),
            .columns = blocks.columns_of(block)};
  }
};

// A unit that deviates adds its row where it is usually off and takes it away where it is usually on.
at::Tensor coded_product(const at::Tensor& start, const BinaryCode& code, const at::Tensor& weights) {
  return PickedSums{.bits = code.deviating,
                    .matrix = weights,
                    .negated = code.majority.row(0),
                    .all_in_base = false,
                    .start = start.defined() ? start.contiguous() : start}
      .run();
}

// The rows in which a unit deviates are added where it is usually off, and taken from the sum of all where it is on.
at::Tensor coded_outer_product(const BinaryCode& code, const at::Tensor& y) {
  const float share = 1 / static_cast<float>(code.deviating.rows);
  std::vector<Factors> factors(static_cast<std::size_t>(code.deviating.columns));
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = code.majority.at(0, static_cast<std::int64_t>(i)) ? Factors{share, -share} : Factors{0, share};
  return PickedSums{.bits = code.deviating.transposed(),
                    .matrix = y,
                    .negated = nullptr,
                    .all_in_base = true,
                    .factors = std::move(factors)}
      .run();
}

}  // namespace

at::Tensor add_product(const at::Tensor& start, const at::Tensor& x, const at::Tensor& weights) {
  require(x.dim() == 2 && weights.dim() == 2 && x.size(1) == weights.size(0),
          "a table with {} columns cannot be multiplied by a matrix with {} rows", x.size(-1), weights.size(0));
  const bool fits = !start.defined() || (start.size(-1) == weights.size(1) &&
                                         (start.dim() == 1 || (start.dim() == 2 && start.size(0) == x.size(0))));
  require(fits, "what a product is added to must be a row of {} numbers or a table of {} such rows", weights.size(1),
          x.size(0));
  if (worth_coding(x, weights.size(1)))
    if (const auto code = BinaryCode::of(x); code && pays(*code)) return coded_product(start, *code, weights);
  return start.defined() ? at::addmm(start, x, weights) : x.mm(weights);
}

at::Tensor mean_outer_product(const at::Tensor& x, const at::Tensor& y) {
  require(x.dim() == 2 && y.dim() == 2 && x.size(0) == y.size(0), "tables of {} and {} rows have no outer products",
          x.size(0), y.size(0));
  if (worth_coding(x, y.size(1)))
    if (const auto code = BinaryCode::of(x); code && pays(*code)) return coded_outer_product(*code, y);
  if (worth_coding(y, x.size(1)))
    if (const auto code = BinaryCode::of(y); code && pays(*code)) return coded_outer_product(*code, x).t().contiguous();
  return x.t().mm(y).div_(static_cast<double>(x.size(0)));
}

}  // namespace harmonium
