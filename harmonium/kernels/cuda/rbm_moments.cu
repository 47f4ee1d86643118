// Σ over rows of products of visible and hidden units, on tensor cores.
#include <cuda_fp16.h>

#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/cuda/rbm_learn.h"
#include "harmonium/kernels/cuda/rbm_wgmma.cuh"

namespace harmonium::cuda {

namespace {

constexpr int chunk_rows = 64, hidden_tile = 128, stages = 5, ahead = 3;
constexpr int mean_bytes = chunk_rows * hidden_tile * 2, word_bytes = chunk_rows * row_words * 4;  // of a stage

template <int VN>
constexpr int unit_bytes = chunk_rows* VN * 2;
template <int VN>
constexpr int stage_bytes = mean_bytes + word_bytes + unit_bytes<VN>;

struct MomentArguments {
  const std::uint32_t* words[2];
  const __half* grays;  // of data, or null
  const __half* means[2];
  int rows[2];
  int hidden;  // padded
  int visible;
  MomentSums sums;
};

__device__ inline float2 two_floats(std::uint32_t halves) {
  return __half22float2(*reinterpret_cast<const __half2*>(&halves));
}

// Rows as they come from memory, by the copy engine: one thread asks, all wait.
class Arrivals {
 public:
  __device__ explicit Arrivals(std::uint64_t* barriers)
      : barriers_(static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers))) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < stages; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_ + 8 * i));
      asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
  }
  __device__ void expect(int stage, int bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barriers_ + 8 * stage), "r"(bytes));
  }
  __device__ void copy(int stage, void* to, const void* from, int bytes) const {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(bytes), "r"(barriers_ + 8 * stage)
                 : "memory");
  }
  __device__ void wait(int stage, int parity) const {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(
                     barriers_ + 8 * stage),
                 "r"(parity)
                 : "memory");
  }

 private:
  std::uint32_t barriers_;
};

// Sums over rows of one slab of visible units and 128 hidden ones. Two warpgroups have 64 hidden units each; rows come
// in chunks of 64: means of hidden units as they are, gray values of visible ones too, bits of them expanded to fp16.
template <int VN, bool with_grays>
__global__ void __launch_bounds__(256, 1) moments_kernel(const __grid_constant__ MomentArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barriers[stages];
  const Arrivals arrivals(barriers);
  const int slab = blockIdx.x, tile = blockIdx.y, split = blockIdx.z, slabs = gridDim.x, tiles = gridDim.y;
  const int pieces = moment_splits / 2, side = split / pieces, own = split % pieces;
  const int rows = args.rows[side], chunks = (rows + chunk_rows - 1) / chunk_rows;
  const int first = chunks * own / pieces, count = chunks * (own + 1) / pieces - first;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warpgroup = warp / 4;

  const bool gray = with_grays && side == 0;

  const auto stage_of = [&](int i) { return shared + i % stages * stage_bytes<VN>; };
  const auto ask_for = [&](int i) {
    const std::size_t row = static_cast<std::size_t>(first + i) * chunk_rows;
    if (gray) {
      arrivals.expect(i % stages, mean_bytes + unit_bytes<VN>);
      arrivals.copy(i % stages, stage_of(i) + mean_bytes + word_bytes,
                    args.grays + gray_place(row, slab * VN, VN, slabs), unit_bytes<VN>);
    } else {
      arrivals.expect(i % stages, mean_bytes + word_bytes);
      arrivals.copy(i % stages, stage_of(i) + mean_bytes, args.words[side] + row * row_words, word_bytes);
    }
    arrivals.copy(i % stages, stage_of(i), args.means[side] + mean_place(row, tile * hidden_tile, args.hidden),
                  mean_bytes);
  };
  wait_for_kernel_before();
  let_next_kernel_come();
  if (threadIdx.x == 0)
    for (int i = 0; i < min(ahead, count); ++i) ask_for(i);

  const int bit_lane = lane % 2 + lane / 16 * 2, bit_row = warp * 8 + lane / 2 % 8;
  float sums[VN / 2];
  std::uint32_t counts[VN / 8];  // of the bits at places p and p + 16
#pragma unroll
  for (int i = 0; i < VN / 8; ++i) counts[i] = 0;
  float gray_sums[with_grays ? VN / 4 : 1] = {};
  float mean_sums[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) mean_sums[i] = 0;

#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    unsigned char* const mean_stage = stage_of(i);
    unsigned char* const unit_stage = mean_stage + mean_bytes + word_bytes;
    arrivals.wait(i % stages, i / stages % 2);
    const auto four_of_step = [&](int step) {
      return reinterpret_cast<uint2*>(unit_stage + (warp * (VN / 8) + 2 * step + bit_lane / 2) * 128 +
                                      lane / 2 % 8 * 16 + bit_lane % 2 * 8);
    };
    std::uint32_t word = 0;
    if (!gray) {
      word =
          reinterpret_cast<const std::uint32_t*>(mean_stage + mean_bytes)[bit_row * row_words + bit_lane * team + slab];
      if ((first + i) * chunk_rows + bit_row >= rows) word = 0;  // chains that fill up the last tile are no rows
#pragma unroll
      for (int step = 0; step < VN / 16; ++step)
        *four_of_step(step) =
            make_uint2((word >> (2 * step) & 0x00010001u) * 0x3C00u, (word >> (2 * step + 1) & 0x00010001u) * 0x3C00u);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    // The stage that is asked for was multiplied two chunks ago, which both warpgroups have waited for.
    if (threadIdx.x == 0 && i + ahead < count) ask_for(i + ahead);
    const std::uint64_t a = turned_descriptor(mean_stage + warpgroup * 8 * 128, 16 * 128, 128);
    const std::uint64_t b = turned_descriptor(unit_stage, VN / 8 * 128, 128);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < chunk_rows / 16; ++k)
      wgmma_turned<VN>(sums, a + k * (2 * 16 * 128 / 16), b + k * (2 * VN / 8 * 128 / 16), i + k);
    wgmma_commit();
    // Tiles share the counting of visible units, and slabs the adding up of hidden ones.
    if (i % tiles == tile) {
      if constexpr (with_grays)
        if (gray) {
#pragma unroll
          for (int step = 0; step < VN / 16; ++step) {
            const uint2 four = *four_of_step(step);
            const float2 low = two_floats(four.x), high = two_floats(four.y);
            gray_sums[4 * step] += low.x;
            gray_sums[4 * step + 1] += low.y;
            gray_sums[4 * step + 2] += high.x;
            gray_sums[4 * step + 3] += high.y;
          }
        }
#pragma unroll
      for (int p = 0; p < VN / 8; ++p) counts[p] += word >> p & 0x00010001u;
    }
    if (i % slabs == slab) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const uint4 eight =
            *reinterpret_cast<const uint4*>(mean_stage + (warp * 16 + 4 * part + lane / 8) * 128 + lane % 8 * 16);
        const std::uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
          const float2 both = two_floats(pairs[pair]);
          mean_sums[8 * part + 2 * pair] += both.x;
          mean_sums[8 * part + 2 * pair + 1] += both.y;
        }
      }
    }
    wgmma_wait<1>();
  }
  wgmma_wait<0>();

  float* products = args.sums.products + static_cast<std::size_t>(split) * args.hidden * args.visible;
#pragma unroll
  for (int j = 0; j < VN / 8; ++j)
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int hidden = tile * hidden_tile + warp * 16 + lane / 4 + 8 * row;
      *reinterpret_cast<float2*>(products + static_cast<std::size_t>(hidden) * args.visible + slab * VN + 8 * j +
                                 lane % 4 * 2) =
          count == 0 ? make_float2(0, 0) : make_float2(sums[4 * j + 2 * row], sums[4 * j + 2 * row + 1]);
    }

  __syncthreads();
  float* across = reinterpret_cast<float*>(shared);  // warps × numbers
  // Counts of eight rows are added up within a warp, those of eight warps after it.
#pragma unroll
  for (int i = 0; i < VN / 8; ++i) {
#pragma unroll
    for (int step = 2; step <= 8; step *= 2) counts[i] += __shfl_xor_sync(~0u, counts[i], step);
    if (lane / 2 % 8 == 0) {
      const int unit = 16 * (i / 2) + 4 * bit_lane + i % 2 * 2;
      across[warp * VN + unit] = static_cast<float>(counts[i] & 0xFFFF);
      across[warp * VN + unit + 1] = static_cast<float>(counts[i] >> 16);
    }
  }
  if constexpr (with_grays)
    if (gray) {
#pragma unroll
      for (int i = 0; i < VN / 4; ++i) {
#pragma unroll
        for (int step = 2; step <= 8; step *= 2) gray_sums[i] += __shfl_xor_sync(~0u, gray_sums[i], step);
        if (lane / 2 % 8 == 0) across[warp * VN + 16 * (i / 4) + 4 * bit_lane + i % 4] = gray_sums[i];
      }
    }
  __syncthreads();
  for (int unit = threadIdx.x; unit < VN; unit += blockDim.x) {
    float total = 0;
    for (int w = 0; w < 8; ++w) total += across[w * VN + unit];
    args.sums.visible[static_cast<std::size_t>(split * tiles + tile) * args.visible + slab * VN + unit] = total;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 32; ++i) {
#pragma unroll
    for (int step = 1; step <= 4; step *= 2) mean_sums[i] += __shfl_xor_sync(~0u, mean_sums[i], step);
    if (lane % 8 == 0) across[warp * hidden_tile + (4 * (i / 8) + lane / 8) * 8 + i % 8] = mean_sums[i];
  }
  __syncthreads();
  for (int unit = threadIdx.x; unit < hidden_tile; unit += blockDim.x) {
    float total = 0;
    for (int w = 0; w < 8; ++w) total += across[w * hidden_tile + unit];
    args.sums.hidden[static_cast<std::size_t>(split * slabs + slab) * args.hidden + tile * hidden_tile + unit] = total;
  }
}

template <int VN>
void launch_moments(const WalkShape& shape, const MomentArguments& args, Stream stream) {
  constexpr int bytes = stages * stage_bytes<VN>;
  const auto kernel = args.grays == nullptr ? moments_kernel<VN, false> : moments_kernel<VN, true>;
  allow_shared_memory(kernel, bytes);
  const auto tiles = static_cast<unsigned>(MomentSums::visible_parts(shape));
  launch_early(kernel, dim3(static_cast<unsigned>(shape.visible_slabs), tiles, moment_splits), 256, bytes, stream,
               args);
}

}  // namespace

void sum_moments(const WalkShape& shape, const RowsOfMoments& data, const RowsOfMoments& chains, const MomentSums& sums,
                 Stream stream) {
  const MomentArguments args{{data.units.words, chains.units.words},
                             static_cast<const __half*>(data.units.grays),
                             {static_cast<const __half*>(data.means), static_cast<const __half*>(chains.means)},
                             {static_cast<int>(data.rows), static_cast<int>(chains.rows)},
                             team * shape.hidden_slab,
                             team * shape.visible_slab,
                             sums};
  switch (shape.visible_slab) {
    case 32:
      launch_moments<32>(shape, args, stream);
      break;
    case 64:
      launch_moments<64>(shape, args, stream);
      break;
    case 112:
      launch_moments<112>(shape, args, stream);
      break;
    default:
      throw std::runtime_error("no sums of moments are compiled for this width of a slab");
  }
}

}  // namespace harmonium::cuda
