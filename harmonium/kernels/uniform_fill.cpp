#include "harmonium/kernels/uniform_fill.h"

#include "harmonium/kernels/clones.h"

namespace harmonium {

namespace {

// The same function as philox() in core/key.h over many counters: rounds unrolled inside one loop over blocks, which is
// the form the compiler vectorises, every lane one block.
template <int blocks>
HARMONIUM_INLINE void philox_blocks(std::uint64_t key, std::uint64_t first_block, std::uint32_t (&word)[4][blocks]) {
  const auto key_low = static_cast<std::uint32_t>(key), key_high = static_cast<std::uint32_t>(key >> 32);
  // A chunk never crosses a multiple of 2^32 blocks, because chunks are aligned to their own (power of two) size.
  const auto index_low = static_cast<std::uint32_t>(first_block),
             index_high = static_cast<std::uint32_t>(first_block >> 32);
  for (std::uint32_t l = 0; l < blocks; ++l) {
    std::uint32_t c0 = index_low + l, c1 = index_high, c2 = 0, c3 = 0, k0 = key_low, k1 = key_high;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const auto high0 = static_cast<std::uint32_t>(std::uint64_t{0xD2511F53} * c0 >> 32);
      const auto high1 = static_cast<std::uint32_t>(std::uint64_t{0xCD9E8D57} * c2 >> 32);
      const std::uint32_t low0 = 0xD2511F53U * c0, low1 = 0xCD9E8D57U * c2;
      c0 = high1 ^ c1 ^ k0;
      c1 = low1;
      c2 = high0 ^ c3 ^ k1;
      c3 = low0;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    word[0][l] = c0;
    word[1][l] = c1;
    word[2][l] = c2;
    word[3][l] = c3;
  }
}

HARMONIUM_CLONES void fill_float(std::uint64_t key, std::uint64_t first_block, float* u) {
  constexpr int blocks = uniform_chunk / 4;
  std::uint32_t word[4][blocks];
  philox_blocks<blocks>(key, first_block, word);
  for (int l = 0; l < blocks; ++l)
    for (int i = 0; i < 4; ++i)
      // Through a signed integer, for which every instruction set has a vector conversion; 24 bits fit in either.
      u[4 * l + i] = static_cast<float>(static_cast<std::int32_t>(word[i][l] >> 8)) * 0x1p-24F;
}

HARMONIUM_CLONES void fill_double(std::uint64_t key, std::uint64_t first_block, double* u) {
  constexpr int blocks = uniform_chunk / 2;
  std::uint32_t word[4][blocks];
  philox_blocks<blocks>(key, first_block, word);
  for (int l = 0; l < blocks; ++l) {
    u[2 * l] = to_unit_double(word[0][l], word[1][l]);
    u[2 * l + 1] = to_unit_double(word[2][l], word[3][l]);
  }
}

}  // namespace

void fill_uniform_chunk(const Key& key, std::int64_t chunk, float* u) {
  fill_float(key.bits(), static_cast<std::uint64_t>(chunk) * (uniform_chunk / 4), u);
}

void fill_uniform_chunk(const Key& key, std::int64_t chunk, double* u) {
  fill_double(key.bits(), static_cast<std::uint64_t>(chunk) * (uniform_chunk / 2), u);
}

}  // namespace harmonium
