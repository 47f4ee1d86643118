#include "harmonium/kernels/binary_product.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "harmonium/kernels/binary_code.h"
#include "harmonium/kernels/packed_matrix.h"
#include "harmonium/kernels/vector_loops.h"

namespace harmonium {

namespace {

// Below this many multiplications a dense product is over before a code is made.
constexpr std::int64_t least_products = 1 << 20;
// A row that is picked costs about as much as this many terms of a dense product (docs/design_notes.md).
constexpr std::int64_t cost_of_a_pick = 3;

bool worth_coding(const at::Tensor& x, std::int64_t width) {
  return x.dim() == 2 && x.scalar_type() == at::kFloat && x.is_contiguous() && x.numel() * width >= least_products;
}

bool pays(const BinaryCode& code) {
  return code.deviations * cost_of_a_pick < code.deviating.rows * code.deviating.columns;
}

// Sums of the rows of a packed matrix that bits pick, for all rows of bits; threads share column blocks, then rows.
struct PickedSums {
  const BitTable& bits;
  const PackedMatrix& matrix;
  const at::Tensor& base;  // blocks × block_columns
  std::vector<Factors> factors = {};
  at::Tensor start = {};

  [[nodiscard]] at::Tensor run() const {
    at::Tensor out = at::empty({bits.rows, matrix.columns()}, at::kFloat);
    // Enough pieces to go round, yet whole blocks where there are many: a block is then fetched by one thread only.
    const std::int64_t threads = at::get_num_threads(), blocks = matrix.blocks();
    const std::int64_t pieces = std::min(bits.rows, (2 * threads + blocks - 1) / blocks);
    at::parallel_for(0, blocks * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t piece = task % pieces;
        vector_loops().sum_rows(of_block(task / pieces, out), bits.rows * piece / pieces,
                                bits.rows * (piece + 1) / pieces);
      }
    });
    return out;
  }

 private:
  [[nodiscard]] RowSums of_block(std::int64_t block, at::Tensor& out) const {
    const std::int64_t column = block * block_columns;
    return {.bits = bits.row(0),
            .words = bits.words,
            .block = matrix.block(block),
            .base = base.data_ptr<float>() + column,
            .factors = factors.empty() ? nullptr : factors.data(),
            .start = start.defined() ? start.data_ptr<float>() + column : nullptr,
            .start_stride = start.defined() && start.dim() == 2 ? matrix.columns() : 0,
            .out = out.data_ptr<float>() + column,
            .out_stride = matrix.columns(),
            .columns = matrix.columns_of(block)};
  }
};

// factor · the sum of the rows of a packed matrix that are wanted.
template <class Wanted>
at::Tensor sum_where(const PackedMatrix& matrix, float factor, Wanted wanted) {
  at::Tensor sum = at::zeros({matrix.blocks(), block_columns}, at::kFloat);
  float* total = sum.data_ptr<float>();
  at::parallel_for(0, matrix.blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      const float* row = matrix.block(block);
      float* to = total + block * block_columns;
      for (std::int64_t r = 0; r < matrix.rows(); ++r, row += block_columns)
        if (wanted(r))
          for (std::int64_t j = 0; j < block_columns; ++j) to[j] += factor * row[j];
    }
  });
  return sum;
}

// A unit that deviates adds its row where it is usually off and takes it away where it is usually on.
at::Tensor coded_product(const at::Tensor& start, const BinaryCode& code, const at::Tensor& weights) {
  const PackedMatrix matrix(weights, code.majority.row(0));
  const at::Tensor base = sum_where(matrix, -1, [&](std::int64_t unit) { return code.majority.at(0, unit); });
  return PickedSums{
      .bits = code.deviating, .matrix = matrix, .base = base, .start = start.defined() ? start.contiguous() : start}
      .run();
}

// The rows in which a unit deviates are added where it is usually off, and taken from the sum of all where it is on.
at::Tensor coded_outer_product(const BinaryCode& code, const at::Tensor& y) {
  const PackedMatrix matrix(y);
  const at::Tensor total = sum_where(matrix, 1, [](std::int64_t) { return true; });
  const float share = 1 / static_cast<float>(code.deviating.rows);
  std::vector<Factors> factors(static_cast<std::size_t>(code.deviating.columns));
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = code.majority.at(0, static_cast<std::int64_t>(i)) ? Factors{share, -share} : Factors{0, share};
  return PickedSums{.bits = code.deviating.transposed(), .matrix = matrix, .base = total, .factors = std::move(factors)}
      .run();
}

}  // namespace

at::Tensor add_product(const at::Tensor& start, const at::Tensor& x, const at::Tensor& weights) {
  if (worth_coding(x, weights.size(1)))
    if (const auto code = BinaryCode::of(x); code && pays(*code)) return coded_product(start, *code, weights);
  return start.defined() ? at::addmm(start, x, weights) : x.mm(weights);
}

at::Tensor mean_outer_product(const at::Tensor& x, const at::Tensor& y) {
  if (worth_coding(x, y.size(1)))
    if (const auto code = BinaryCode::of(x); code && pays(*code)) return coded_outer_product(*code, y);
  if (worth_coding(y, x.size(1)))
    if (const auto code = BinaryCode::of(y); code && pays(*code)) return coded_outer_product(*code, x).t().contiguous();
  return x.t().mm(y).div_(static_cast<double>(x.size(0)));
}

}  // namespace harmonium
