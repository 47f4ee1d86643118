#include "harmonium/kernels/binary_code.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "harmonium/kernels/vector_loops.h"

namespace harmonium {

namespace {

std::int64_t grain(std::int64_t work_per_item) {
  constexpr std::int64_t worth_a_thread = 1 << 15;
  return std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, work_per_item));
}

// Turns 64 × 64 bits: halves of all sizes change places, from 32 down to 1.
void turn_bits(std::uint64_t (&bits)[64]) {
  std::uint64_t mask = 0x00000000FFFFFFFFU;
  for (int size = 32; size != 0; size >>= 1, mask ^= mask << size)
    for (int i = 0; i < 64; i = (i + size + 1) & ~size) {
      const std::uint64_t change = (bits[i] >> size ^ bits[i + size]) & mask;
      bits[i] ^= change << size;
      bits[i + size] ^= change;
    }
}

}  // namespace

BitTable::BitTable(std::int64_t row_count, std::int64_t column_count)
    : rows(row_count),
      columns(column_count),
      words((column_count + word_bits - 1) / word_bits),
      storage(at::empty({row_count, words}, at::kLong)) {}

BitTable BitTable::transposed() const {
  BitTable result(columns, rows);
  const std::uint64_t* from = row(0);
  std::uint64_t* to = result.row(0);
  at::parallel_for(0, words, grain(rows), [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t square[word_bits];
    for (std::int64_t word = begin; word < end; ++word)
      for (std::int64_t first = 0; first < rows; first += word_bits) {
        const std::int64_t down = std::min(word_bits, rows - first),
                           across = std::min(word_bits, columns - word * word_bits);
        for (std::int64_t i = 0; i < word_bits; ++i) square[i] = i < down ? from[(first + i) * words + word] : 0;
        turn_bits(square);
        for (std::int64_t i = 0; i < across; ++i)
          to[(word * word_bits + i) * result.words + first / word_bits] = square[i];
      }
  });
  return result;
}

std::optional<BinaryCode> BinaryCode::of(const at::Tensor& table) {
  if (table.dim() != 2 || table.scalar_type() != at::kFloat || !table.is_contiguous() || table.numel() == 0)
    return std::nullopt;
  const std::int64_t rows = table.size(0), columns = table.size(1);
  BinaryCode code{.deviating = BitTable(rows, columns), .majority = BitTable(1, columns)};
  const float* from = table.data_ptr<float>();
  std::vector<std::int64_t> ones(static_cast<std::size_t>(columns));
  std::atomic<bool> binary = true;
  std::mutex adding;
  at::parallel_for(0, rows, grain(columns), [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> counts(static_cast<std::size_t>(columns));
    // Real-valued tables show themselves in their first row: the others then only look whether it is over.
    for (std::int64_t row = begin; row < end && binary.load(std::memory_order_relaxed); ++row)
      if (!vector_loops().pack_bits(from + row * columns, columns, code.deviating.row(row), counts.data()))
        binary.store(false, std::memory_order_relaxed);
    const std::scoped_lock lock(adding);
    for (std::size_t i = 0; i < counts.size(); ++i) ones[i] += static_cast<std::int64_t>(counts[i]);
  });
  if (!binary) return std::nullopt;

  std::uint64_t* majority = code.majority.row(0);
  std::fill_n(majority, code.majority.words, 0);
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::int64_t on = ones[static_cast<std::size_t>(i)];
    const bool mostly = 2 * on > rows;
    majority[i / word_bits] |= static_cast<std::uint64_t>(mostly) << i % word_bits;
    code.deviations += mostly ? rows - on : on;
  }
  const std::int64_t words = code.deviating.words;
  std::uint64_t* bits = code.deviating.row(0);
  for (std::int64_t row = 0; row < rows; ++row, bits += words)
    for (std::int64_t w = 0; w < words; ++w) bits[w] ^= majority[w];
  return code;
}

}  // namespace harmonium
