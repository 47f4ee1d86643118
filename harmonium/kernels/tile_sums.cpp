#include "harmonium/kernels/tile_sums.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "harmonium/kernels/column_blocks.h"

namespace harmonium {

namespace {

// Digits that are multiplied with one group of rows after the other: they stay in the second cache, which is of 2 MB in
// all processors that have tiles.
constexpr std::int64_t cached_bytes = 3 << 19;

// Memory of tensors is aligned to cache lines.
template <class Number>
Number* room(at::Tensor& storage, std::size_t count) {
  storage = at::empty({static_cast<std::int64_t>(count * sizeof(Number))}, at::kByte);
  return reinterpret_cast<Number*>(storage.data_ptr());
}

// Blocks begin … end of a matrix as digits.
struct Digits {
  Digits(const TileLoops& loops, const ColumnBlocks& blocks, std::int64_t begin, std::int64_t end)
      : first(begin),
        bytes(digit_bytes(words_of(blocks))),
        digits(room<std::int8_t>(storage, bytes * static_cast<std::size_t>(end - begin))),
        scales(room<float>(scale_storage, static_cast<std::size_t>((end - begin) * block_columns))) {
    at::parallel_for(begin, end, 1, [&](std::int64_t from, std::int64_t to) {
      at::Tensor copy_storage;
      float* copy = room<float>(copy_storage, static_cast<std::size_t>(blocks.rows() * block_columns));
      for (std::int64_t block = from; block < to; ++block) {
        blocks.copy(block, nullptr, copy);
        loops.split(copy, blocks.rows(), of(block), scales_of(block));
      }
    });
  }
  [[nodiscard]] static std::int64_t words_of(const ColumnBlocks& blocks) {
    return (blocks.rows() + word_bits - 1) / word_bits;
  }
  [[nodiscard]] std::int8_t* of(std::int64_t block) const {
    return digits + bytes * static_cast<std::size_t>(block - first);
  }
  [[nodiscard]] float* scales_of(std::int64_t block) const { return scales + (block - first) * block_columns; }

  std::int64_t first;
  at::Tensor storage, scale_storage;
  std::size_t bytes;
  std::int8_t* digits;
  float* scales;
};

// Matrices and their digits. A matrix that is kept keeps its memory, so that no other can be taken for it.
struct Keeper {
  std::vector<std::pair<at::Tensor, std::shared_ptr<const Digits>>> kept;
  int users = 0;
};
thread_local Keeper keeper;

bool same_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

// Digits of a whole matrix that lasts; null where nobody keeps them.
std::shared_ptr<const Digits> kept_digits(const at::Tensor& matrix, const TileLoops& loops,
                                          const ColumnBlocks& blocks) {
  if (keeper.users == 0) return nullptr;
  for (const auto& [each, digits] : keeper.kept)
    if (same_memory(each, matrix)) return digits;
  constexpr std::size_t most = 8;  // some paths through machines have new weights at every step
  if (keeper.kept.size() == most) keeper.kept.erase(keeper.kept.begin());
  keeper.kept.emplace_back(matrix, std::make_shared<const Digits>(loops, blocks, 0, blocks.count()));
  return keeper.kept.back().second;
}

// What a thread needs of its own.
struct ThreadRoom {
  explicit ThreadRoom(std::int64_t words)
      : units(room<std::int8_t>(unit_storage, unit_bytes(words))),
        products(room<std::int32_t>(product_storage, product_numbers)),
        sums(room<float>(sum_storage, static_cast<std::size_t>(tile_group * block_columns))) {}

  at::Tensor unit_storage, product_storage, sum_storage;
  std::int8_t* units;
  std::int32_t* products;
  float* sums;
};

}  // namespace

KeptDigits::KeptDigits() { ++keeper.users; }
KeptDigits::~KeptDigits() {
  if (--keeper.users == 0) keeper.kept.clear();
}

const TileLoops* tiles_for(std::int64_t rows) {
  constexpr std::int64_t worth_digits = 256;  // rows; below, making digits takes longer than picking (design_notes.md)
  return rows >= worth_digits ? tile_loops() : nullptr;
}

void TileSums::run(const at::Tensor& out, DrawnUnits* drawn) const {
  const ColumnBlocks blocks(matrix);
  const std::int64_t words = bits.words, columns = blocks.columns(), count = blocks.count();
  const std::int64_t strip = std::max<std::int64_t>(1, cached_bytes / static_cast<std::int64_t>(digit_bytes(words)));
  const std::shared_ptr<const Digits> kept = lasting ? kept_digits(matrix, loops, blocks) : nullptr;
  const std::int64_t groups = (bits.rows + tile_group - 1) / tile_group;
  alignas(64) const float no_base[block_columns] = {};
  const std::vector<Factors> factors(factor == 1 ? 0 : static_cast<std::size_t>(bits.rows), Factors{0, factor});
  for (std::int64_t first = 0; first < count; first += strip) {
    const std::int64_t last = std::min(first + strip, count);
    const std::shared_ptr<const Digits> digits =
        kept != nullptr ? kept : std::make_shared<const Digits>(loops, blocks, first, last);
    at::parallel_for(0, groups, 1, [&](std::int64_t begin, std::int64_t end) {
      const ThreadRoom mine(words);
      at::Tensor count_storage;
      float* counts = room<float>(count_storage, static_cast<std::size_t>((last - first) * block_columns));
      std::fill_n(counts, (last - first) * block_columns, 0.0F);
      loops.begin();
      for (std::int64_t group = begin; group < end; ++group) {
        const std::int64_t row = group * tile_group, rows = std::min(tile_group, bits.rows - row);
        loops.expand(bits.row(row), words, rows, mine.units);
        for (std::int64_t block = first; block < last; ++block) {
          const std::int64_t column = block * block_columns;
          loops.multiply(mine.units, words, rows, digits->of(block), digits->scales_of(block), blocks.columns_of(block),
                         mine.products, mine.sums);
          LogisticDraw draw{};
          if (drawn != nullptr) draw = drawn->from(column, counts + (block - first) * block_columns);
          const RowSums finish = {.bits = nullptr,
                                  .words = 0,
                                  .group = 0,
                                  .block = nullptr,
                                  .block_rows = 0,
                                  .base = no_base,
                                  .factors = factors.empty() ? nullptr : factors.data(),
                                  .start = start.defined() ? start.data_ptr<float>() + column : nullptr,
                                  .start_stride = start.defined() && start.dim() == 2 ? columns : 0,
                                  .out = out.defined() ? out.data_ptr<float>() + column : nullptr,
                                  .out_stride = columns,
                                  .columns = blocks.columns_of(block),
                                  .draw = drawn == nullptr ? nullptr : &draw,
                                  .partial = mine.sums,
                                  .table = nullptr};
          vector_loops().finish_rows(finish, row, rows);
        }
      }
      loops.end();
      if (drawn != nullptr)
        for (std::int64_t block = first; block < last; ++block)
          drawn->add_counts(block * block_columns, blocks.columns_of(block), counts + (block - first) * block_columns);
    });
  }
}

}  // namespace harmonium
