// Included by vector_loops.cpp once for every instruction set, inside a namespace and a target pragma of its own. No
// function of the standard library is called: an inline one compiled here could be the copy that all others link to.
// HARMONIUM_LOOPS is the width of its vectors in bits; compilers do not tell by their own macros, which they set before
// they come to a pragma.

using Floats = float __attribute__((vector_size(64), aligned(64), may_alias));
using LooseFloats = float __attribute__((vector_size(64), aligned(4), may_alias));
using Lanes = std::uint64_t __attribute__((vector_size(64)));
using Words = std::int32_t __attribute__((vector_size(64)));
using UnsignedWords = std::uint32_t __attribute__((vector_size(64)));
using LooseWords = std::uint32_t __attribute__((vector_size(64), aligned(4), may_alias));

// Products of the low halves of 64-bit lanes, whole. Plain multiplication would take three of these instructions.
static inline Lanes multiply_low(Lanes a, Lanes b) {
#if HARMONIUM_LOOPS == 512
  return (Lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif HARMONIUM_LOOPS == 256
  union {
    Lanes all;
    __m256i half[2];
  } x{a}, y{b};
  x.half[0] = _mm256_mul_epu32(x.half[0], y.half[0]);
  x.half[1] = _mm256_mul_epu32(x.half[1], y.half[1]);
  return x.all;
#elif defined(__SSE2__)
  union {
    Lanes all;
    __m128i part[4];
  } x{a}, y{b};
  for (int i = 0; i < 4; ++i) x.part[i] = _mm_mul_epu32(x.part[i], y.part[i]);
  return x.all;
#else
  return (a & 0xFFFFFFFFU) * (b & 0xFFFFFFFFU);
#endif
}

static inline Lanes all_lanes(std::uint64_t value) { return Lanes{} + value; }

// Philox of core/key.h, eight blocks a vector, a block a lane. A word lives in the low half of its lane; what is in the
// high half does not matter, because only low halves are multiplied. So the second and fourth word are the products of
// the round before as they are. Two vectors at a time, because a round waits for its products. The result is the 64
// words of the blocks in order.
struct SixteenBlocks {
  Lanes part[4];
};
static inline SixteenBlocks philox_blocks(std::uint64_t key, std::uint64_t first_block) {
  const Lanes multiplier0 = all_lanes(0xD2511F53), multiplier1 = all_lanes(0xCD9E8D57);
  const Lanes index = all_lanes(first_block & 0xFFFFFFFFU) + Lanes{0, 1, 2, 3, 4, 5, 6, 7};
  Lanes c0[2] = {index, index + 8}, c1[2] = {all_lanes(first_block >> 32), all_lanes(first_block >> 32)}, c2[2] = {},
        c3[2] = {};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const Lanes product0 = multiply_low(c0[i], multiplier0), product1 = multiply_low(c2[i], multiplier1);
      c0[i] = (product1 >> 32) ^ c1[i] ^ all_lanes(k0);
      c2[i] = (product0 >> 32) ^ c3[i] ^ all_lanes(k1);
      c1[i] = product1;
      c3[i] = product0;
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  SixteenBlocks result;
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const Lanes front = (c0[i] & 0xFFFFFFFFU) | c1[i] << 32, back = (c2[i] & 0xFFFFFFFFU) | c3[i] << 32;
    result.part[2 * i] = __builtin_shufflevector(front, back, 0, 8, 1, 9, 2, 10, 3, 11);
    result.part[2 * i + 1] = __builtin_shufflevector(front, back, 4, 12, 5, 13, 6, 14, 7, 15);
  }
  return result;
}

static inline void fill_bits(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, std::uint32_t* bits) {
  for (std::int64_t block = 0; block < blocks; block += 16) {
    const SixteenBlocks drawn = philox_blocks(key, first_block + static_cast<std::uint64_t>(block));
    for (int i = 0; i < 4; ++i) *reinterpret_cast<LooseWords*>(bits + 4 * block + 16 * i) = (LooseWords)drawn.part[i];
  }
}

static inline void fill_uniform(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, float* u) {
  for (std::int64_t block = 0; block < blocks; block += 16) {
    const SixteenBlocks drawn = philox_blocks(key, first_block + static_cast<std::uint64_t>(block));
    for (int i = 0; i < 4; ++i) {
      // Through a signed integer, for which every instruction set has a vector conversion; 24 bits fit in either.
      const Words bits = (Words)((UnsignedWords)drawn.part[i] >> 8);
      *reinterpret_cast<LooseFloats*>(u + 4 * block + 16 * i) = __builtin_convertvector(bits, Floats) * 0x1p-24F;
    }
  }
}

// One bit for each of 16 numbers that is not 0.
static inline std::uint64_t bits_of(Floats x) {
#if HARMONIUM_LOOPS == 512
  return _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
#else
  std::uint64_t result = 0;
  for (int i = 0; i < 16; ++i) result |= static_cast<std::uint64_t>(x[i] != 0) << i;
  return result;
#endif
}

static inline bool pack_bits(const float* row, std::int64_t n, std::uint64_t* words, float* counts) {
  Words wrong = {};
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    std::uint64_t word = 0;
    for (int part = 0; part < 4; ++part) {
      const Floats x = *reinterpret_cast<const LooseFloats*>(row + i + 16 * part);
      wrong |= (x != 0.0F) & (x != 1.0F);
      word |= bits_of(x) << 16 * part;
      *reinterpret_cast<LooseFloats*>(counts + i + 16 * part) += x;
    }
    words[i / 64] = word;
  }
  bool binary = true;
  if (i < n) words[i / 64] = 0;
  for (; i < n; ++i) {
    binary = binary && (row[i] == 0 || row[i] == 1);
    words[i / 64] |= static_cast<std::uint64_t>(row[i] != 0) << i % 64;
    counts[i] += row[i];
  }
  for (int lane = 0; lane < 16; ++lane) binary = binary && wrong[lane] == 0;
  return binary;
}

template <int vectors>
static inline void finish_row(const RowSums& sums, std::int64_t row, Floats (&sum)[vectors]) {
  const Floats* base = reinterpret_cast<const Floats*>(sums.base);
  if (sums.factors == nullptr)
    for (int i = 0; i < vectors; ++i) sum[i] += base[i];
  else
    for (int i = 0; i < vectors; ++i) sum[i] = sum[i] * sums.factors[row].sum + base[i] * sums.factors[row].base;
  const float* start = sums.start == nullptr ? nullptr : sums.start + row * sums.start_stride;
  float* out = sums.out + row * sums.out_stride;
  if (sums.columns == 16 * vectors) {
    const LooseFloats* from = reinterpret_cast<const LooseFloats*>(start);
    LooseFloats* to = reinterpret_cast<LooseFloats*>(out);
    for (int i = 0; i < vectors; ++i) to[i] = start == nullptr ? sum[i] : sum[i] + from[i];
  } else {
    const float* numbers = reinterpret_cast<const float*>(sum);
    for (std::int64_t j = 0; j < sums.columns; ++j) out[j] = numbers[j] + (start == nullptr ? 0.0F : start[j]);
  }
}

// Columns 16·vectors of a block; the last block of a matrix is often narrow.
template <int vectors>
static inline void sum_narrow_rows(const RowSums& sums, std::int64_t begin, std::int64_t end) {
  // Tiles of two words of bits: the rows that can be picked then lie in the first-level cache. Chunks of rows, whose
  // partial sums stay in the second.
  constexpr std::int64_t tile = 2, chunk = 256;
  alignas(64) float partial[chunk * 16 * vectors];
  for (std::int64_t first = begin; first < end; first += chunk) {
    const std::int64_t rows = end - first < chunk ? end - first : chunk;
    for (std::int64_t word = 0; word < sums.words; word += tile) {
      const std::int64_t last = word + tile < sums.words ? word + tile : sums.words;
      for (std::int64_t r = 0; r < rows; ++r) {
        Floats* kept = reinterpret_cast<Floats*>(partial + r * 16 * vectors);
        Floats sum[vectors];
        for (int i = 0; i < vectors; ++i) sum[i] = word == 0 ? Floats{} : kept[i];
        for (std::int64_t w = word; w < last; ++w) {
          const float* block = sums.block + w * word_bits * block_columns;
          for (std::uint64_t bits = sums.bits[(first + r) * sums.words + w]; bits != 0; bits &= bits - 1) {
            const Floats* picked = reinterpret_cast<const Floats*>(block + block_columns * __builtin_ctzll(bits));
            for (int i = 0; i < vectors; ++i) sum[i] += picked[i];
          }
        }
        if (last < sums.words)
          for (int i = 0; i < vectors; ++i) kept[i] = sum[i];
        else
          finish_row<vectors>(sums, first + r, sum);
      }
    }
  }
}

static inline void sum_rows(const RowSums& sums, std::int64_t begin, std::int64_t end) {
  if (sums.columns > 48)
    sum_narrow_rows<4>(sums, begin, end);
  else if (sums.columns > 32)
    sum_narrow_rows<3>(sums, begin, end);
  else if (sums.columns > 16)
    sum_narrow_rows<2>(sums, begin, end);
  else
    sum_narrow_rows<1>(sums, begin, end);
}

static const VectorLoops loops = {HARMONIUM_LOOPS, fill_bits, fill_uniform, pack_bits, sum_rows};
