// What a warpgroup does with a tile of 64 rows: bits of one layer times a slab of weights are the fields of units of
// the other, from which they are drawn. Nothing leaves the registers on the way.
#pragma once

#include <cuda_runtime.h>

#include "harmonium/kernels/cuda/rbm_layout.h"
#include "harmonium/kernels/cuda/rbm_wgmma.cuh"

namespace harmonium::cuda {

inline constexpr float minus_log2_e = -1.44269504F;

// The words of a thread's lane: of its first row, and of the row eight further down.
struct LaneWords {
  std::uint32_t first[team], second[team];
};

// fp16 ones and zeros of the two rows, for all steps of a word. A bit at place p times 15·2^(10−p) is 15·2^10,
// fp16's 1.
template <int steps>
__device__ inline void expand(std::uint32_t first, std::uint32_t second, std::uint32_t (&a)[steps][4]) {
  const std::uint32_t first_end = first >> 8, second_end = second >> 8;
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int place = 2 * s + i / 2;
      const bool end = place > 10;
      const std::uint32_t word = i % 2 == 0 ? (end ? first_end : first) : (end ? second_end : second);
      const int shift = end ? place - 8 : place;
      a[s][i] = (word & (0x00010001u << shift)) * (0x3C00u >> shift);
    }
}

// sums = units × slab, for `slabs` times `steps` steps; fill(w, a) gives the units of time w.
template <int N, int steps, int slabs, class Fill>
__device__ inline void multiply(float (&sums)[N / 2], std::uint64_t slab, Fill fill) {
  constexpr int buffers = 2;  // one is made while the other is multiplied
  std::uint32_t a[buffers][steps][4];
#pragma unroll
  for (int w = 0; w < slabs; ++w) {
    if (w >= buffers) wgmma_wait<buffers - 1>();
    fill(w, a[w % buffers]);
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < steps; ++s) wgmma<N>(sums, a[w % buffers][s], slab + (w * steps + s) * slab_step<N>, w + s);
    wgmma_commit();
  }
  wgmma_wait<0>();
}

// sums = bits × slab, for `slabs` words a lane with `steps` steps each.
template <int N, int steps, int slabs>
__device__ inline void multiply_bits(float (&sums)[N / 2], const LaneWords& bits, std::uint64_t slab) {
  multiply<N, steps, slabs>(
      sums, slab, [&](int w, std::uint32_t(&a)[steps][4]) { expand<steps>(bits.first[w], bits.second[w], a); });
}

__device__ inline float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline float reciprocal_fast(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The keys of Philox's rounds, kept in registers: adding them up anew for every block would be a tenth of a draw.
struct RoundKeys {
  std::uint32_t even[10], odd[10];

  __device__ explicit RoundKeys(std::uint64_t key) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      even[round] = static_cast<std::uint32_t>(key) + round * 0x9E3779B9u;
      odd[round] = static_cast<std::uint32_t>(key >> 32) + round * 0xBB67AE85u;
      asm volatile("" : "+r"(even[round]), "+r"(odd[round]));
    }
  }

  // Key::block(index) of core/key.h for an index below 2^32.
  __device__ void block(std::uint32_t index, std::uint32_t (&words)[4]) const {
    std::uint32_t c0 = index, c1 = 0, c2 = 0, c3 = 0;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = static_cast<std::uint64_t>(0xD2511F53u) * c0,
                          p1 = static_cast<std::uint64_t>(0xCD9E8D57u) * c2;
      c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ even[round];
      c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ odd[round];
      c1 = static_cast<std::uint32_t>(p1);
      c3 = static_cast<std::uint32_t>(p0);
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
  }
};

// The same bits in another order, of which the leading ones were the last: a second draw of the same word.
__device__ inline void swap_halves(std::uint32_t (&words)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __byte_perm(words[i], 0, 0x1032);
}

// Negative where a unit with t = −x log₂ e is 1: u(1 + e^{−x}) < 1, for u of the leading 24 of 32 random bits.
__device__ inline float draw_one(float t, std::uint32_t bits) {
  const float u = __uint2float_rz(bits);
  return fmaf(u, exp2_fast(t), u - 0x1p32F);
}

// Visits the sums that a thread holds, four consecutive units at a time and the last ones first: f(j, row, x) with the
// j-th step of the slab, row 0 or 1 and four numbers.
template <int N, class F>
__device__ inline void for_each_four(const float (&sums)[N / 2], F f) {
#pragma unroll
  for (int j = N / 16 - 1; j >= 0; --j)
#pragma unroll
    for (int row = 0; row < 2; ++row)
      f(j, row,
        make_float4(sums[8 * j + 2 * row], sums[8 * j + 2 * row + 1], sums[8 * j + 4 + 2 * row],
                    sums[8 * j + 5 + 2 * row]));
}

// A word in the making: signs are pushed into its two halves, the last unit's first.
struct WordHalves {
  std::uint32_t low = 0, high = 0;

  __device__ void push(float4 signs) {
    low = __funnelshift_l(__float_as_uint(signs.z), low, 1);
    high = __funnelshift_l(__float_as_uint(signs.w), high, 1);
    low = __funnelshift_l(__float_as_uint(signs.x), low, 1);
    high = __funnelshift_l(__float_as_uint(signs.y), high, 1);
  }
  [[nodiscard]] __device__ std::uint32_t word(std::uint32_t tag) const { return high << 16 | low | tag; }
};

}  // namespace harmonium::cuda
