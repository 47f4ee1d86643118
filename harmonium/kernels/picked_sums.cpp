#include "harmonium/kernels/picked_sums.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "harmonium/kernels/column_blocks.h"

namespace harmonium {

namespace {

// What things cost, in rows that are picked one by one (measured, docs/design_notes.md).
constexpr double pick_of_four = 1.4, pick_of_eight = 1.5, table_row = 2;

std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

double cost_of_tables(int group, std::int64_t rows, std::int64_t columns) {
  return table_row * static_cast<double>((parts(columns, group) << group) * parts(rows, chunk_rows));
}

double cost_of_eights(std::int64_t rows, std::int64_t columns) {
  return pick_of_eight * static_cast<double>(rows * parts(columns, 8)) + cost_of_tables(8, rows, columns);
}

// A part of the rows of the result, for one block of columns.
struct Slice {
  std::int64_t block, begin, end;
};

// Work for threads to take one after another: whole blocks, as many for each, because a piece of one needs a copy of
// all of it; then pieces of rows of those that are left over.
std::vector<Slice> slices(std::int64_t blocks, std::int64_t rows, std::int64_t threads) {
  const std::int64_t whole = blocks / threads * threads, pieces = std::min(rows, threads);
  std::vector<Slice> result;
  for (std::int64_t block = 0; block < whole; ++block) result.push_back({block, 0, rows});
  for (std::int64_t block = whole; block < blocks; ++block)
    for (std::int64_t piece = 0; piece < pieces; ++piece)
      result.push_back({block, rows * piece / pieces, rows * (piece + 1) / pieces});
  return result;
}

// A thread's room: a copy of a column block, its base, partial sums and a table of sums of groups. Rows of the copy
// that fill up its last group may hold anything: no bit picks them.
struct Room {
  Room(std::int64_t rows_of_block, std::int64_t rows_of_result, int group)
      : block_rows(parts(rows_of_block, 8) * 8),
        storage(at::empty({block_rows + 1 + std::min(rows_of_result, chunk_rows) + table_rows(group), block_columns},
                          at::kFloat)),
        copy(storage.data_ptr<float>()),
        base(copy + block_rows * block_columns),
        partial(base + block_columns),
        table(partial + std::min(rows_of_result, chunk_rows) * block_columns) {}

  std::int64_t block_rows;
  at::Tensor storage;
  float *copy, *base, *partial, *table;
};

}  // namespace

int cheapest_group(const BinaryCode& code) {
  const BitTable& bits = code.deviating;
  const auto ones = static_cast<double>(code.deviations);
  const double fours = pick_of_four * static_cast<double>(code.fours) + cost_of_tables(4, bits.rows, bits.columns),
               eights = cost_of_eights(bits.rows, bits.columns);
  if (ones <= std::min(fours, eights)) return 1;
  return fours <= eights ? 4 : 8;
}

int cheapest_group_transposed(const BinaryCode& code) {
  const double eights = cost_of_eights(code.deviating.columns, code.deviating.rows);
  return static_cast<double>(code.deviations) <= eights ? 1 : 8;
}

void PickedSums::run(const at::Tensor& out, DrawnUnits* drawn) const {
  const ColumnBlocks blocks(matrix);
  const std::int64_t threads = at::get_num_threads(), columns = blocks.columns();
  const std::vector<Slice> all = slices(blocks.count(), bits.rows, threads);
  std::atomic<std::size_t> next = 0;
  at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
    const Room room(blocks.rows(), bits.rows, group);
    std::int64_t copied = -1;
    for (std::size_t mine = next++; mine < all.size(); mine = next++) {
      const Slice& slice = all[mine];
      if (std::exchange(copied, slice.block) != slice.block) {
        blocks.copy(slice.block, negated, room.copy);
        set_base(room.copy, blocks.rows(), room.base);
      }
      const std::int64_t column = slice.block * block_columns;
      alignas(64) std::array<float, block_columns> counts{};
      LogisticDraw draw{};
      if (drawn != nullptr) draw = drawn->from(column, counts.data());
      vector_loops().sum_rows({.bits = bits.row(0),
                               .words = bits.words,
                               .group = group,
                               .block = room.copy,
                               .block_rows = room.block_rows,
                               .base = room.base,
                               .factors = factors.empty() ? nullptr : factors.data(),
                               .start = start.defined() ? start.data_ptr<float>() + column : nullptr,
                               .start_stride = start.defined() && start.dim() == 2 ? columns : 0,
                               .out = out.defined() ? out.data_ptr<float>() + column : nullptr,
                               .out_stride = columns,
                               .columns = blocks.columns_of(slice.block),
                               .draw = drawn == nullptr ? nullptr : &draw,
                               .partial = room.partial,
                               .table = room.table},
                              slice.begin, slice.end);
      if (drawn != nullptr) drawn->add_counts(column, blocks.columns_of(slice.block), counts.data());
    }
  });
}

void PickedSums::set_base(const float* copy, std::int64_t rows, float* base) const {
  std::fill_n(base, block_columns, 0.0F);
  for (std::int64_t row = 0; row < rows; ++row, copy += block_columns) {
    const bool flipped = negated != nullptr && (negated[row / word_bits] >> row % word_bits & 1) != 0;
    if (!all_in_base && !flipped) continue;
    const float sign = flipped ? -1.0F : 1.0F;
    for (std::int64_t j = 0; j < block_columns; ++j) base[j] += sign * copy[j];
  }
}

}  // namespace harmonium
