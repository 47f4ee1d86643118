// The two layers of a walk as its threads see them: waiting for words of the one, drawing words of the other.
#pragma once

#include <cuda_fp16.h>

#include "harmonium/kernels/cuda/rbm_draw.cuh"
#include "harmonium/kernels/cuda/rbm_walk.h"

namespace harmonium::cuda {

inline constexpr int warpgroups = 3;  // more would have too few registers, fewer wait longer

struct LayerArguments {
  int width;
  std::uint32_t* words;
  std::uint32_t drawn;
  const float *bias, *slope;
};

struct WalkArguments {
  const __half* slabs;
  LayerArguments visible, hidden;
  int tiles, steps;
  const std::uint32_t* data;
  const __half* grays;
  int rows, data_rows, data_tiles;
  __half *means, *data_means;
  double* weights;
  std::int64_t padded;
  std::uint64_t keys[walk_steps][2];
  float places[walk_steps + 2];
};

// sweep_in_pairs: rows r and r + 8 draw from the same random words (rbm_walk.h).
enum class Mode { sweep, sweep_and_means, sweep_in_pairs, anneal_kept, anneal_summed };

// A word may be read before it is written: the tag says which drawing of the layer it is of.
__device__ inline void load_words(const std::uint32_t* from, std::uint32_t (&to)[team]) {
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from)
               : "memory");
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[4]), "=r"(to[5]), "=r"(to[6]), "=r"(to[7])
               : "l"(from + 4)
               : "memory");
}

template <int slabs>
__device__ inline LaneWords wait_for_words(const std::uint32_t* from, std::uint32_t tag) {
  LaneWords words;
  bool ready;
  do {
    load_words(from, words.first);
    load_words(from + 8 * row_words, words.second);
    std::uint32_t wrong = 0;
#pragma unroll
    for (int w = 0; w < slabs; ++w) wrong |= (words.first[w] ^ tag) | (words.second[w] ^ tag);
    ready = (wrong & tag_bit) == 0;
  } while (!__all_sync(~0u, ready));
  return words;
}

__device__ inline void store_word(std::uint32_t* to, std::uint32_t word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

__device__ inline std::uint32_t two_halves(float first, float second) {
  const __half2 both = __floats2half2_rn(first, second);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

// σ of four units of step j, from t = −field log₂ e.
template <int N>
__device__ inline void store_means(__half* table, int rows, std::uint32_t row, int rank, int j, int lane, float4 t) {
  const auto mean = [](float x) { return reciprocal_fast(1 + exp2_fast(x)); };
  const bool there = row < rows;
  *reinterpret_cast<uint2*>(table + mean_place(row, rank * N + 16 * j + 4 * lane, team * N)) =
      there ? make_uint2(two_halves(mean(t.x), mean(t.y)), two_halves(mean(t.z), mean(t.w))) : make_uint2(0, 0);
}

// Four gray values of a row.
__device__ inline uint2 load_grays(const __half* from) {
  uint2 four;
  asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(four.x), "=r"(four.y) : "l"(from) : "memory");
  return four;
}

// Means of hidden units given rows of data.
template <int N, int steps, int slabs, bool grays, class Wait>
__device__ inline void data_means(const WalkArguments& args, std::uint64_t slab, const float* bias,
                                  Wait wait_for_slab) {
  const int thread = threadIdx.x % 128, lane = thread % 4, warpgroup = threadIdx.x / 128;
  const int rank = blockIdx.x % team, teams = gridDim.x / team;
  // Warpgroups that have no chains of their own do it, or else all.
  const int busy = (args.tiles + teams - 1) / teams, first = busy < warpgroups ? busy : 0;
  if (warpgroup < first) return;
  wait_for_slab();
  bias += 4 * lane;
#pragma unroll 1
  for (int tile = blockIdx.x / team + teams * (warpgroup - first); tile < args.data_tiles;
       tile += teams * (warpgroups - first)) {
    const std::uint32_t row = tile * tile_rows + thread / 32 * 16 + thread % 32 / 4;
    float sums[N / 2];
    if constexpr (grays) {
      const __half* from = args.grays + gray_place(row, 4 * lane, 16 * steps, slabs);
      multiply<N, steps, slabs>(sums, slab, [&](int w, std::uint32_t(&a)[steps][4]) {
#pragma unroll
        for (int s = 0; s < steps; ++s) {
          const __half* four = from + w * (64 * 16 * steps) + s * (2 * 64);
          const uint2 first = load_grays(four), second = load_grays(four + 8 * 16 * steps);
          a[s][0] = first.x;
          a[s][1] = second.x;
          a[s][2] = first.y;
          a[s][3] = second.y;
        }
      });
    } else {
      LaneWords bits;
      load_words(args.data + row * row_words + lane * team, bits.first);
      load_words(args.data + (row + 8) * row_words + lane * team, bits.second);
      multiply_bits<N, steps, slabs>(sums, bits, slab);
    }
    for_each_four<N>(sums, [&](int j, int second, float4 x) {
      const float4 b = *reinterpret_cast<const float4*>(bias + 16 * j);
      store_means<N>(args.data_means, args.data_rows, row + 8 * second, rank, j, lane,
                     make_float4(fmaf(x.x, minus_log2_e, b.x), fmaf(x.y, minus_log2_e, b.y),
                                 fmaf(x.z, minus_log2_e, b.z), fmaf(x.w, minus_log2_e, b.w)));
    });
  }
}

// Draws one layer in all tiles of a warpgroup. N: units of its slab; `steps`, `slabs` of the layer it is drawn from.
template <int N, int steps, int slabs, Mode mode>
__device__ inline void draw_layer(const WalkArguments& args, const LayerArguments& from, const LayerArguments& to,
                                  int step, int layer, std::uint64_t slab, const float* bias, int from_draws) {
  const int thread = threadIdx.x % 128, lane = thread % 4, warpgroup = threadIdx.x / 128;
  const int rank = blockIdx.x % team, teams = gridDim.x / team;
  const RoundKeys keys(args.keys[step][layer]);
  const std::uint32_t wanted = (from.drawn + from_draws) % 2 * tag_bit, tag = (to.drawn + step + 1) % 2 * tag_bit;
  const float before = args.places[step], after = args.places[step + 1], next = args.places[step + 2];
  bias += 4 * lane;
#pragma unroll 1
  for (int tile = blockIdx.x / team + teams * warpgroup; tile < args.tiles; tile += teams * warpgroups) {
    const std::uint32_t row = tile * tile_rows + thread / 32 * 16 + thread % 32 / 4;
    const LaneWords bits = wait_for_words<slabs>(from.words + row * row_words + lane * team, wanted);
    float sums[N / 2];
    multiply_bits<N, steps, slabs>(sums, bits, slab);
    const std::uint32_t block = (row * to.width + rank * N) / 4 + lane;
    WordHalves words[2];
    float gain[2] = {0, 0};
    std::uint32_t random[4];
    for_each_four<N>(sums, [&](int j, int second, float4 x) {
      if (mode == Mode::sweep_in_pairs && second == 1)
        swap_halves(random);
      else
        keys.block(block + 4 * j + second * 2 * to.width, random);
      const float4 b = *reinterpret_cast<const float4*>(bias + 16 * j);
      float4 t;
      if constexpr (mode != Mode::anneal_kept && mode != Mode::anneal_summed) {
        t = make_float4(fmaf(x.x, minus_log2_e, b.x), fmaf(x.y, minus_log2_e, b.y), fmaf(x.z, minus_log2_e, b.z),
                        fmaf(x.w, minus_log2_e, b.w));
      } else {
        const float4 s = *reinterpret_cast<const float4*>(bias + N + 16 * j);
        const float scale = minus_log2_e * after;
        const float4 rise = make_float4(x.x + s.x, x.y + s.y, x.z + s.z, x.w + s.w);
        t = make_float4(fmaf(rise.x, scale, b.x), fmaf(rise.y, scale, b.y), fmaf(rise.z, scale, b.z),
                        fmaf(rise.w, scale, b.w));
        if constexpr (mode == Mode::anneal_summed) {
          // ∫ σ(field) d field over the step, by Gauss's rule with two points: the difference of two softplus would be
          // lost in their rounding.
          const float middle = minus_log2_e * 0.5F * (before + after),
                      half = minus_log2_e * 0.28867513F * (after - before);
          const auto mean = [&](float r, float base) {
            return r * (reciprocal_fast(1 + exp2_fast(fmaf(r, middle - half, base))) +
                        reciprocal_fast(1 + exp2_fast(fmaf(r, middle + half, base))));
          };
          gain[second] += mean(rise.x, b.x) + mean(rise.y, b.y) + mean(rise.z, b.z) + mean(rise.w, b.w);
        }
      }
      const float4 signs = make_float4(draw_one(t.x, random[0]), draw_one(t.y, random[1]), draw_one(t.z, random[2]),
                                       draw_one(t.w, random[3]));
      words[second].push(signs);
      if constexpr (mode == Mode::sweep_and_means)
        store_means<N>(args.means, args.rows, row + 8 * second, rank, j, lane, t);
      if constexpr (mode == Mode::anneal_kept) {
        const float4 s = *reinterpret_cast<const float4*>(bias + N + 16 * j);
        gain[second] += (signs.x < 0 ? s.x : 0.0F) + (signs.y < 0 ? s.y : 0.0F) + (signs.z < 0 ? s.z : 0.0F) +
                        (signs.w < 0 ? s.w : 0.0F);
      }
    });
    std::uint32_t* out = to.words + row * row_words + lane * team + rank;
    store_word(out, words[0].word(tag));
    store_word(out + 8 * row_words, words[1].word(tag));
    if constexpr (mode == Mode::anneal_kept || mode == Mode::anneal_summed) {
      double* weight = args.weights + (rank * 4 + lane) * args.padded + row;
      const double factor =
          mode == Mode::anneal_summed ? 0.5 * (static_cast<double>(after) - before) : static_cast<double>(next) - after;
      weight[0] += factor * static_cast<double>(gain[0]);
      weight[8] += factor * static_cast<double>(gain[1]);
    }
  }
}

// This multiprocessor's slabs, on their way to shared memory: work that needs one does not wait for the other.
class SlabsToCome {
 public:
  __device__ explicit SlabsToCome(std::uint64_t* barriers)
      : barriers_(static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers))) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < 2; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_ + 8 * i));
      asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
  }
  __device__ void ask_for(int which, const __half* from, __half* to, int count) const {
    if (threadIdx.x != 0) return;
    const std::uint32_t barrier = barriers_ + 8 * which;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count * 2));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(count * 2), "r"(barrier)
                 : "memory");
  }
  __device__ void wait(int which) const {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(
                     barriers_ + 8 * which)
                 : "memory");
  }

 private:
  std::uint32_t barriers_;
};

// A slab's biases, times −log₂ e, and slopes after them. Units beyond the layer's end are never drawn.
template <int N>
__device__ inline void load_biases(const LayerArguments& layer, float* to) {
  for (int i = threadIdx.x; i < N; i += blockDim.x) {
    const int unit = blockIdx.x % team * N + i;
    to[i] = unit < layer.width ? minus_log2_e * layer.bias[unit] : INFINITY;
    to[N + i] = unit < layer.width && layer.slope != nullptr ? layer.slope[unit] : 0;
  }
}

}  // namespace harmonium::cuda
