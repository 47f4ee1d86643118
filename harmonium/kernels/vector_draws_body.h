// Included by vector_loops.cpp once for every instruction set, inside a namespace and a target pragma of its own:
// vectors, random numbers and units drawn from their fields. No function of the standard library is called: an inline
// one compiled here could be the copy that all others link to. HARMONIUM_LOOPS is the width of vectors in bits;
// compilers do not tell by their own macros, which they set before they come to a pragma.

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
// the round before as they are. Two vectors at a time where so many are wanted, because a round waits for its products.
// The result is the words of the blocks in order, 16 a part.
template <int vectors>
struct PhiloxBlocks {
  Lanes part[2 * vectors];
};
template <int vectors>
static inline PhiloxBlocks<vectors> philox_blocks(std::uint64_t key, std::uint64_t first_block) {
  const Lanes multiplier0 = all_lanes(0xD2511F53), multiplier1 = all_lanes(0xCD9E8D57);
  Lanes c0[vectors], c1[vectors], c2[vectors], c3[vectors];
  for (int i = 0; i < vectors; ++i) {
    c0[i] = all_lanes(first_block + 8 * static_cast<std::uint64_t>(i)) + Lanes{0, 1, 2, 3, 4, 5, 6, 7};
    c1[i] = c0[i] >> 32;
    c2[i] = c3[i] = Lanes{};
  }
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
    for (int i = 0; i < vectors; ++i) {
      const Lanes product0 = multiply_low(c0[i], multiplier0), product1 = multiply_low(c2[i], multiplier1);
      c0[i] = (product1 >> 32) ^ c1[i] ^ all_lanes(k0);
      c2[i] = (product0 >> 32) ^ c3[i] ^ all_lanes(k1);
      c1[i] = product1;
      c3[i] = product0;
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  PhiloxBlocks<vectors> result;
#pragma GCC unroll 2
  for (int i = 0; i < vectors; ++i) {
    const Lanes front = (c0[i] & 0xFFFFFFFFU) | c1[i] << 32, back = (c2[i] & 0xFFFFFFFFU) | c3[i] << 32;
    result.part[2 * i] = __builtin_shufflevector(front, back, 0, 8, 1, 9, 2, 10, 3, 11);
    result.part[2 * i + 1] = __builtin_shufflevector(front, back, 4, 12, 5, 13, 6, 14, 7, 15);
  }
  return result;
}

// Uniforms in [0, 1) of 24 bits. Through signed integers, for which every instruction set has a vector conversion.
static inline Floats uniforms_of(Lanes random) {
  return __builtin_convertvector((Words)((UnsignedWords)random >> 8), Floats) * 0x1p-24F;
}

static inline void fill_bits(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, std::uint32_t* bits) {
  for (std::int64_t block = 0; block < blocks; block += 16) {
    const auto drawn = philox_blocks<2>(key, first_block + static_cast<std::uint64_t>(block));
    for (int i = 0; i < 4; ++i) *reinterpret_cast<LooseWords*>(bits + 4 * block + 16 * i) = (LooseWords)drawn.part[i];
  }
}

static inline void fill_uniform(std::uint64_t key, std::uint64_t first_block, std::int64_t blocks, float* u) {
  for (std::int64_t block = 0; block < blocks; block += 16) {
    const auto drawn = philox_blocks<2>(key, first_block + static_cast<std::uint64_t>(block));
    for (int i = 0; i < 4; ++i) *reinterpret_cast<LooseFloats*>(u + 4 * block + 16 * i) = uniforms_of(drawn.part[i]);
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

// e^x for x ≤ 0 as in elementary.h, and whether u < σ(x) without the division.
static inline Floats exp_of_negative(Floats x) {
  constexpr float shift = 0x1.8p23F;
  x = x < -87.0F ? Floats{} - 87.0F : x;
  const Floats shifted = x * 1.4426950408889634F + shift, n = shifted - shift,
               r = (x - n * 0x1.62e4p-1F) - n * 0x1.7f7d1cp-20F;
  Floats sum = Floats{} + 1.0F / 5040;
  constexpr float coefficients[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1, 1};
#pragma GCC unroll 7
  for (int i = 0; i < 7; ++i) sum = sum * r + coefficients[i];
  return sum * (Floats)(((Words)shifted - 0x4B400000 + 127) << 23);
}
// One bit for each of 16 units that is on, which is counted as well.
static inline std::uint64_t draw_units(Floats u, Floats x, Floats& counts) {
  const Floats e = exp_of_negative((Floats)((Words)x | static_cast<std::int32_t>(0x80000000U)));
  const Floats scaled = u * (1 + e), bound = x < 0.0F ? e : Floats{} + 1.0F;
#if HARMONIUM_LOOPS == 512
  const __mmask16 on = _mm512_cmp_ps_mask((__m512)scaled, (__m512)bound, _CMP_LT_OQ);
  counts = (Floats)_mm512_mask_add_ps((__m512)counts, on, (__m512)counts, _mm512_set1_ps(1));
  return on;
#else
  const Floats states = scaled < bound ? Floats{} + 1.0F : Floats{};
  counts += states;
  return bits_of(states);
#endif
}

// Draws a row of at most 64 units from their fields; adds those that are on to `counts`.
template <int vectors>
static inline void draw_row(const LogisticDraw& draw, std::int64_t row, std::int64_t columns,
                            const Floats (&field)[vectors], Floats (&counts)[vectors]) {
  const auto first_block = static_cast<std::uint64_t>(row * draw.width + draw.first_column) / 4;  // four draws a block
  const auto random = philox_blocks<(vectors + 1) / 2>(draw.key, first_block);
  std::uint64_t word = 0;
  for (int i = 0; i < vectors; ++i) word |= draw_units(uniforms_of(random.part[i]), field[i], counts[i]) << 16 * i;
  if (columns < 64) word &= (std::uint64_t{1} << columns) - 1;
  draw.bits[row * draw.words + draw.first_column / word_bits] = word;
}
