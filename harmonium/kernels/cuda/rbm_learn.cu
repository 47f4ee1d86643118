#include "harmonium/kernels/cuda/rbm_learn.h"

#include <cuda_fp16.h>

#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/cuda/rbm_wgmma.cuh"

namespace harmonium::cuda {

namespace {

// One thread a word: the units of a lane of a slab.
__global__ void draw_batch_kernel(Key key, ByteRows from, std::int64_t padded, int slab, std::uint32_t* words) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= padded * row_words) return;
  const std::int64_t row = i / row_words;
  const int lane = static_cast<int>(i % row_words) / team, part = static_cast<int>(i % team);
  std::uint32_t word = 0;
  if (row < from.count) {
    const std::int64_t source = from.rows[row];
    if (source < 0 || source >= from.known) __trap();
    for (int step = 0; step < slab / 16; ++step) {
      const int unit = part * slab + 16 * step + 4 * lane;
      if (unit >= from.columns) break;
      const PhiloxBlock random = key.block(static_cast<std::uint64_t>(row * from.columns + unit) / 4);
      const uchar4 bytes = *reinterpret_cast<const uchar4*>(from.bytes + source * from.columns + unit);
      const auto one = [&](int which, unsigned char byte) {
        return to_unit_float(random[which]) < static_cast<float>(byte) * from.scale
                   ? 1u << (2 * step + which / 2 + 16 * (which % 2))
                   : 0u;
      };
      word |= one(0, bytes.x) | one(1, bytes.y) | one(2, bytes.z) | one(3, bytes.w);
    }
  }
  words[i] = word;
}

constexpr int chunk_rows = 64, hidden_tile = 128, stages = 4;
constexpr int mean_bytes = chunk_rows * hidden_tile * 2;  // of a stage

template <int VN>
constexpr int unit_bytes = chunk_rows* VN * 2;
template <int VN>
constexpr int stage_bytes = mean_bytes + unit_bytes<VN>;

struct MomentArguments {
  const std::uint32_t* words[2];
  const __half* means[2];
  int rows[2];
  int hidden;  // padded
  int visible;
  MomentSums sums;
};

__device__ inline void copy_async(void* to, const void* from) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
      "l"(from)
      : "memory");
}

// Sums over rows of one slab of visible units and 128 hidden ones. Two warpgroups have 64 hidden units each; rows come
// in chunks of 64: means of hidden units are copied to shared memory as they are, bits of visible ones expanded to
// fp16.
template <int VN>
__global__ void __launch_bounds__(256, 1) moments_kernel(const __grid_constant__ MomentArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int slab = blockIdx.x, tile = blockIdx.y, split = blockIdx.z, side = split / (moment_splits / 2);
  const int half = split % (moment_splits / 2), pieces = moment_splits / 2;
  const int rows = args.rows[side], chunks = (rows + chunk_rows - 1) / chunk_rows;
  const int first = chunks * half / pieces, end = chunks * (half + 1) / pieces;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warpgroup = warp / 4;
  const std::uint32_t* words = args.words[side];
  const __half* means = args.means[side];

  const auto stage = [&](int chunk) { return shared + (chunk - first) % stages * stage_bytes<VN>; };
  // Eight lanes copy eight rows of eight hidden units, a piece of 128 bytes.
  const auto copy_means = [&](int chunk) {
    const int row = chunk * chunk_rows + warp * 8 + lane % 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int eight = 4 * i + lane / 8;
      copy_async(stage(chunk) + (warp * 16 + eight) * 128 + lane % 8 * 16,
                 means + static_cast<std::size_t>(row) * args.hidden + tile * hidden_tile + eight * 8);
    }
  };
  const int bit_lane = lane % 2 + lane / 16 * 2, bit_row = warp * 8 + lane / 2 % 8;
  // Chains that fill up the last tile are no rows.
  const auto word_of = [&](int chunk) {
    const int row = chunk * chunk_rows + bit_row;
    return row < rows ? words[static_cast<std::size_t>(row) * row_words + bit_lane * team + slab] : 0;
  };
  std::uint32_t next[2] = {0, 0};
#pragma unroll
  for (int ahead = 0; ahead < 2; ++ahead) {
    if (first + ahead < end) {
      copy_means(first + ahead);
      next[ahead] = word_of(first + ahead);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  float sums[VN / 2];
  std::uint32_t counts[VN / 8];  // of the bits at places p and p + 16
#pragma unroll
  for (int i = 0; i < VN / 8; ++i) counts[i] = 0;
  float mean_sums[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) mean_sums[i] = 0;
  const int tiles = gridDim.y;

#pragma unroll 1
  for (int chunk = first; chunk < end; ++chunk) {
    const std::uint32_t word = next[0];
    next[0] = next[1];
    unsigned char* const mean_stage = stage(chunk);
    unsigned char* const unit_stage = mean_stage + mean_bytes;
#pragma unroll
    for (int step = 0; step < VN / 16; ++step) {
      const uint2 four =
          make_uint2((word >> (2 * step) & 0x00010001u) * 0x3C00u, (word >> (2 * step + 1) & 0x00010001u) * 0x3C00u);
      const int eight = 2 * step + bit_lane / 2;
      *reinterpret_cast<uint2*>(unit_stage + (warp * (VN / 8) + eight) * 128 + lane / 2 % 8 * 16 + bit_lane % 2 * 8) =
          four;
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    // The stage two ahead was multiplied two chunks ago, which both warpgroups have waited for.
    if (chunk + 2 < end) {
      copy_means(chunk + 2);
      next[1] = word_of(chunk + 2);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    const std::uint64_t a = turned_descriptor(mean_stage + warpgroup * 8 * 128, 16 * 128, 128);
    const std::uint64_t b = turned_descriptor(unit_stage, VN / 8 * 128, 128);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < chunk_rows / 16; ++k)
      wgmma_turned<VN>(sums, a + k * (2 * 16 * 128 / 16), b + k * (2 * VN / 8 * 128 / 16), chunk - first + k);
    wgmma_commit();
    // Tiles share the counting of visible units, and the first slab adds up hidden ones.
    if ((chunk - first) % tiles == tile) {
#pragma unroll
      for (int i = 0; i < VN / 8; ++i) counts[i] += word >> i & 0x00010001u;
    }
    if (slab == 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint4 eight =
            *reinterpret_cast<const uint4*>(mean_stage + (warp * 16 + 4 * i + lane / 8) * 128 + lane % 8 * 16);
        const std::uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
          const float2 both = __half22float2(*reinterpret_cast<const __half2*>(&pairs[pair]));
          mean_sums[8 * i + 2 * pair] += both.x;
          mean_sums[8 * i + 2 * pair + 1] += both.y;
        }
      }
    }
    wgmma_wait<1>();
  }
  wgmma_wait<0>();

  const bool empty = first == end;
  float* products = args.sums.products + static_cast<std::size_t>(split) * args.hidden * args.visible;
#pragma unroll
  for (int j = 0; j < VN / 8; ++j)
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int hidden = tile * hidden_tile + warp * 16 + lane / 4 + 8 * row;
      *reinterpret_cast<float2*>(products + static_cast<std::size_t>(hidden) * args.visible + slab * VN + 8 * j +
                                 lane % 4 * 2) =
          empty ? make_float2(0, 0) : make_float2(sums[4 * j + 2 * row], sums[4 * j + 2 * row + 1]);
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
  __syncthreads();
  for (int unit = threadIdx.x; unit < VN; unit += blockDim.x) {
    float total = 0;
    for (int w = 0; w < 8; ++w) total += across[w * VN + unit];
    args.sums.visible[static_cast<std::size_t>(split * tiles + tile) * args.visible + slab * VN + unit] = total;
  }
  if (slab != 0) return;
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
    args.sums.hidden[static_cast<std::size_t>(split) * args.hidden + tile * hidden_tile + unit] = total;
  }
}

constexpr int block_visible = 16, block_hidden = 64;  // of the weights, by one block of threads

__device__ inline float at_place(const Coefficients& c, int row, int column, float missing) {
  return c.values == nullptr ? missing : c.values[row * c.row_stride + column * c.column_stride];
}

// The difference of two means, from the sums of all pieces.
__device__ inline float mean_difference(const float* sums, int parts, std::int64_t stride, int unit, float data_share,
                                        float model_share) {
  float data = 0, model = 0;
  for (int part = 0; part < parts / 2; ++part) data += sums[part * stride + unit];
  for (int part = parts / 2; part < parts; ++part) model += sums[part * stride + unit];
  return data * data_share - model * model_share;
}

__global__ void __launch_bounds__(256) weights_kernel(const __grid_constant__ LearnStep step) {
  __shared__ float gradient[block_hidden][block_visible + 1];
  __shared__ float fresh[block_visible][block_hidden + 1];
  __shared__ float visible_gradient[block_visible], hidden_gradient[block_hidden];
  __shared__ float column_parts[8][block_hidden];
  const int visible_padded = team * step.shape.visible_slab, hidden_padded = team * step.shape.hidden_slab;
  const int first_visible = blockIdx.x * block_visible, first_hidden = blockIdx.y * block_hidden, thread = threadIdx.x;
  {
    const int h = thread / 4, v = thread % 4 * 4;
    float4 data = make_float4(0, 0, 0, 0), model = data;
    for (int split = 0; split < moment_splits; ++split) {
      const float4 x = *reinterpret_cast<const float4*>(
          step.sums.products + (static_cast<std::size_t>(split) * hidden_padded + first_hidden + h) * visible_padded +
          first_visible + v);
      float4& to = split < moment_splits / 2 ? data : model;
      to.x += x.x;
      to.y += x.y;
      to.z += x.z;
      to.w += x.w;
    }
    gradient[h][v] = data.x * step.data_share - model.x * step.model_share;
    gradient[h][v + 1] = data.y * step.data_share - model.y * step.model_share;
    gradient[h][v + 2] = data.z * step.data_share - model.z * step.model_share;
    gradient[h][v + 3] = data.w * step.data_share - model.w * step.model_share;
  }
  if (thread < block_visible) {
    const int unit = first_visible + thread;
    visible_gradient[thread] = mean_difference(step.sums.visible, moment_splits * (hidden_padded / hidden_tile),
                                               visible_padded, unit, step.data_share, step.model_share);
    if (blockIdx.y == 0 && unit < step.visible) step.unary_gradient[unit] = visible_gradient[thread];
  } else if (thread >= 64 && thread < 64 + block_hidden) {
    const int unit = first_hidden + thread - 64;
    hidden_gradient[thread - 64] =
        mean_difference(step.sums.hidden, moment_splits, hidden_padded, unit, step.data_share, step.model_share);
    if (blockIdx.x == 0 && unit < step.hidden) step.unary_gradient[step.visible + unit] = hidden_gradient[thread - 64];
  }
  __syncthreads();
  const int i = thread / 16, j = thread % 16 * 4, v = first_visible + i;
  float row_sum = 0, column_sum[4];
  for (int e = 0; e < 4; ++e) {
    const int h = first_hidden + j + e;
    column_sum[e] = 0;
    float weight = 0;
    if (v < step.visible && h < step.hidden) {
      const std::int64_t place = static_cast<std::int64_t>(v) * step.hidden + h;
      const float on_visible = at_place(step.on_visible, v, h, 0), on_hidden = at_place(step.on_hidden, v, h, 0);
      weight = step.weights[place];
      const float direction = (gradient[j + e][i] - step.decay * weight - on_visible * visible_gradient[i] -
                               on_hidden * hidden_gradient[j + e]) *
                              at_place(step.precision, v, h, 1);
      weight += step.rate_weights * direction;
      step.weights[place] = weight;
      step.average_weights[place] += step.average_weight * (weight - step.average_weights[place]);
      row_sum += on_visible * direction;
      column_sum[e] = on_hidden * direction;
    }
    fresh[i][j + e] = weight;
  }
  for (int away = 1; away < 16; away *= 2) row_sum += __shfl_xor_sync(~0u, row_sum, away);
  if (thread % 16 == 0) step.row_sums[blockIdx.y * visible_padded + v] = row_sum;
  for (int e = 0; e < 4; ++e) {
    column_sum[e] += __shfl_xor_sync(~0u, column_sum[e], 16);
    if (thread % 32 < 16) column_parts[thread / 32][j + e] = column_sum[e];
  }
  __syncthreads();
  if (thread < block_hidden) {
    float total = 0;
    for (int warp = 0; warp < 8; ++warp) total += column_parts[warp][thread];
    step.column_sums[blockIdx.x * hidden_padded + first_hidden + thread] = total;
  }
  // Sixteen bytes of a slab by every thread: eight visible units of a hidden column, or eight hidden ones of a visible.
  const WalkShape& shape = step.shape;
  __half numbers[8];
  if (thread < 128) {
    const int column = thread % 64, k = thread / 64 * 8;  // places within the block
    if (first_visible < shape.visible_slab * shape.visible_slabs) {
      const int h = first_hidden + column, rank = h / shape.hidden_slab;
      for (int e = 0; e < 8; ++e) numbers[e] = __float2half_rn(fresh[unit_of_place(k + e)][unit_of_place(column)]);
      __half* slab = static_cast<__half*>(step.slabs) + static_cast<std::size_t>(rank) * shape.numbers();
      *reinterpret_cast<uint4*>(
          slab + (static_cast<std::size_t>(first_visible + k) / 8 * shape.hidden_slab + h % shape.hidden_slab) * 8) =
          *reinterpret_cast<const uint4*>(numbers);
    }
  } else {
    const int column = (thread - 128) % 16, k = (thread - 128) / 16 * 8, unit = first_visible + column,
              rank = unit / shape.visible_slab;
    if (first_hidden < shape.hidden_slab * shape.hidden_slabs) {
      for (int e = 0; e < 8; ++e) numbers[e] = __float2half_rn(fresh[unit_of_place(column)][unit_of_place(k + e)]);
      __half* slab =
          static_cast<__half*>(step.slabs) + static_cast<std::size_t>(rank) * shape.numbers() + shape.up_numbers();
      *reinterpret_cast<uint4*>(
          slab + (static_cast<std::size_t>(first_hidden + k) / 8 * shape.visible_slab + unit % shape.visible_slab) *
                     8) = *reinterpret_cast<const uint4*>(numbers);
    }
  }
}

// One warp a unit: its row of the inverse covariance times the gradient, and what its weights' step adds.
__global__ void __launch_bounds__(256) biases_kernel(const __grid_constant__ LearnStep step) {
  const int unit = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, all = step.visible + step.hidden;
  if (unit >= all) return;
  const bool visible = unit < step.visible;
  const int own = visible ? unit : unit - step.visible;
  const int visible_padded = team * step.shape.visible_slab, hidden_padded = team * step.shape.hidden_slab;
  float product = 0, coupled = 0;
  if (step.inverse != nullptr) {
    const float4* row = reinterpret_cast<const float4*>(step.inverse + static_cast<std::int64_t>(unit) * all);
    const float4* gradient = reinterpret_cast<const float4*>(step.unary_gradient);
    for (int k = lane; k < all / 4; k += 32) {
      const float4 x = row[k], y = gradient[k];
      product += x.x * y.x + x.y * y.y + (x.z * y.z + x.w * y.w);
    }
  } else if (lane == 0) {
    product = step.unary_gradient[unit];
  }
  if (visible)
    for (int part = lane; part < hidden_padded / block_hidden; part += 32)
      coupled += step.row_sums[part * visible_padded + own];
  else
    for (int part = lane; part < visible_padded / block_visible; part += 32)
      coupled += step.column_sums[part * hidden_padded + own];
  for (int away = 16; away > 0; away /= 2) {
    product += __shfl_xor_sync(~0u, product, away);
    coupled += __shfl_xor_sync(~0u, coupled, away);
  }
  if (lane != 0) return;
  float* bias = (visible ? step.visible_bias : step.hidden_bias) + own;
  float* average = (visible ? step.average_visible : step.average_hidden) + own;
  const float fresh = *bias + step.rate_bias * product - step.rate_weights * coupled;
  *bias = fresh;
  *average += step.average_weight * (fresh - *average);
}

template <int VN>
void launch_moments(const WalkShape& shape, const MomentArguments& args, Stream stream) {
  constexpr int bytes = stages * stage_bytes<VN>;
  check(cudaFuncSetAttribute(moments_kernel<VN>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "shared memory of moments");
  const auto tiles = static_cast<unsigned>(MomentSums::visible_parts(shape));
  moments_kernel<VN>
      <<<dim3(static_cast<unsigned>(shape.visible_slabs), tiles, moment_splits), 256, bytes, stream>>>(args);
}

}  // namespace

void draw_batch(const Key& key, const ByteRows& from, int slab, std::uint32_t* words, Stream stream) {
  const std::int64_t padded = padded_rows(from.count), threads = padded * row_words;
  draw_batch_kernel<<<static_cast<unsigned>((threads + 255) / 256), 256, 0, stream>>>(key, from, padded, slab, words);
  check_launch("drawing a batch");
}

void sum_moments(const WalkShape& shape, const RowsOfMoments& data, const RowsOfMoments& chains, const MomentSums& sums,
                 Stream stream) {
  const MomentArguments args{{data.words, chains.words},
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
  check_launch("summing moments");
}

LearnRoom learn_room(const WalkShape& shape) {
  const std::int64_t visible = team * shape.visible_slab, hidden = team * shape.hidden_slab;
  return {.row_sums = hidden / block_hidden * visible, .column_sums = visible / block_visible * hidden};
}

void learn(const LearnStep& step, Stream stream) {
  const unsigned visible = static_cast<unsigned>(team * step.shape.visible_slab / block_visible),
                 hidden = static_cast<unsigned>(team * step.shape.hidden_slab / block_hidden);
  weights_kernel<<<dim3(visible, hidden), 256, 0, stream>>>(step);
  check_launch("a step of the weights");
  biases_kernel<<<static_cast<unsigned>((step.visible + step.hidden + 7) / 8), 256, 0, stream>>>(step);
  check_launch("a step of the biases");
}

}  // namespace harmonium::cuda
