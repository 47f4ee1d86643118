#include "harmonium/kernels/binary_code.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "harmonium/kernels/clones.h"
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

// Bits that differ from the usual ones; the number of fours of them that are not all 0.
HARMONIUM_CLONES std::int64_t differ_from(const std::uint64_t* usual, const std::uint64_t* bits, std::int64_t words,
                                          std::uint64_t* to) {
  std::uint64_t total = 0;
  for (std::int64_t w = 0; w < words; ++w) {
    const std::uint64_t word = bits[w] ^ usual[w], pairs = word | word >> 1;
    to[w] = word;
    // One bit for every four, then sums of neighbours: plain shifts, which all instruction sets have for vectors.
    std::uint64_t count = (pairs | pairs >> 2) & 0x1111111111111111U;
    count = (count + (count >> 4)) & 0x0F0F0F0F0F0F0F0FU;
    count = (count + (count >> 8)) & 0x00FF00FF00FF00FFU;
    count = (count + (count >> 16)) & 0x0000FFFF0000FFFFU;
    total += (count + (count >> 32)) & 0xFFFFFFFFU;
  }
  return static_cast<std::int64_t>(total);
}

}  // namespace

BitTable::BitTable(std::int64_t row_count, std::int64_t column_count)
    : rows(row_count),
      columns(column_count),
      words((column_count + word_bits - 1) / word_bits),
      storage(at::empty({row_count, words}, at::kLong)),
      first_(reinterpret_cast<std::uint64_t*>(storage.data_ptr<std::int64_t>())) {}

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

bool BinaryTable::possible(const at::Tensor& table) {
  return table.defined() && table.dim() == 2 && table.is_cpu() && table.scalar_type() == at::kFloat &&
         table.is_contiguous() && table.numel() != 0;
}

std::optional<BinaryTable> BinaryTable::of(const at::Tensor& table) {
  if (!possible(table)) return std::nullopt;
  const std::int64_t rows = table.size(0), columns = table.size(1);
  BitTable bits(rows, columns);
  const float* from = table.data_ptr<float>();
  std::vector<std::int64_t> ones(static_cast<std::size_t>(columns));
  std::atomic<bool> binary = true;
  std::mutex adding;
  at::parallel_for(0, rows, grain(columns), [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> counts(static_cast<std::size_t>(columns));
    // Real-valued tables show themselves in their first row: the others then only look whether it is over.
    for (std::int64_t row = begin; row < end && binary.load(std::memory_order_relaxed); ++row)
      if (!vector_loops().pack_bits(from + row * columns, columns, bits.row(row), counts.data()))
        binary.store(false, std::memory_order_relaxed);
    const std::scoped_lock lock(adding);
    for (std::size_t i = 0; i < counts.size(); ++i) ones[i] += static_cast<std::int64_t>(counts[i]);
  });
  if (!binary) return std::nullopt;
  return BinaryTable{.bits = std::move(bits), .ones = std::move(ones)};
}

at::Tensor BinaryTable::table() const {
  const std::int64_t columns = bits.columns;
  at::Tensor result = at::empty({bits.rows, columns}, at::kFloat);
  float* to = result.data_ptr<float>();
  at::parallel_for(0, bits.rows, grain(columns), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      vector_loops().unpack_bits(bits.row(row), columns, to + row * columns);
  });
  return result;
}

BinaryCode::BinaryCode(const BinaryTable& table)
    : deviating(table.bits.rows, table.bits.columns), majority(1, table.bits.columns) {
  const std::int64_t rows = deviating.rows;
  std::uint64_t* usual = majority.row(0);
  std::fill_n(usual, majority.words, 0);
  for (std::int64_t i = 0; i < deviating.columns; ++i) {
    const std::int64_t on = table.ones[static_cast<std::size_t>(i)];
    const bool mostly = 2 * on > rows;
    usual[i / word_bits] |= static_cast<std::uint64_t>(mostly) << i % word_bits;
    deviations += mostly ? rows - on : on;
  }
  std::atomic<std::int64_t> total = 0;
  at::parallel_for(0, rows, grain(deviating.words), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t found = 0;
    for (std::int64_t row = begin; row < end; ++row)
      found += differ_from(usual, table.bits.row(row), deviating.words, deviating.row(row));
    total += found;
  });
  fours = total;
}

}  // namespace harmonium
