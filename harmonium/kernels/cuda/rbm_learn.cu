#include "harmonium/kernels/cuda/rbm_learn.h"

#include <cuda_fp16.h>

#include "harmonium/kernels/cuda/launch.cuh"

namespace harmonium::cuda {

namespace {

struct BatchArguments {
  Key key;
  ByteRows from;
  std::int64_t padded;
  int slab, slabs;
  float offset;
  std::uint32_t* words;
  __half* grays;
};

// One thread a word: the units of a lane of a slab.
__device__ inline void draw_word(const BatchArguments& batch, std::int64_t i) {
  if (i >= batch.padded * row_words) return;
  const ByteRows& from = batch.from;
  const std::int64_t row = i / row_words;
  const int lane = static_cast<int>(i % row_words) / team, part = static_cast<int>(i % team);
  std::uint32_t word = 0;
  if (row < from.count) {
    const std::int64_t source = from.rows[row];
    if (source < 0 || source >= from.known) __trap();
    for (int step = 0; step < batch.slab / 16; ++step) {
      const int unit = part * batch.slab + 16 * step + 4 * lane;
      if (unit >= from.columns) break;
      const PhiloxBlock random = batch.key.block(static_cast<std::uint64_t>(row * from.columns + unit) / 4);
      const uchar4 bytes = *reinterpret_cast<const uchar4*>(from.bytes + source * from.columns + unit);
      const auto one = [&](int which, unsigned char byte) {
        return to_unit_float(random[which]) < static_cast<float>(byte) * from.scale
                   ? 1u << (2 * step + which / 2 + 16 * (which % 2))
                   : 0u;
      };
      word |= one(0, bytes.x) | one(1, bytes.y) | one(2, bytes.z) | one(3, bytes.w);
    }
  }
  batch.words[i] = word;
}

constexpr int steps_at_once = 4;

// One warp eight rows of 64 units, sixteen at a time, which are whole pieces of the table; a thread has four of them.
__device__ inline void put_grays(const BatchArguments& batch, std::int64_t i) {
  const int width = batch.slab * batch.slabs, parts = (width / 16 + steps_at_once - 1) / steps_at_once,
            lane = static_cast<int>(i % 32);
  const std::int64_t row = i / 32 / parts * 8 + lane / 4;
  if (row >= batch.padded) return;
  const ByteRows& from = batch.from;
  const int first = static_cast<int>(i / 32 % parts) * (16 * steps_at_once) + lane % 4 * 4;
  const bool there = row < from.count;
  const std::int64_t source = there ? from.rows[row] : 0;
  if (source < 0 || source >= from.known) __trap();
  uchar4 bytes[steps_at_once];
#pragma unroll
  for (int s = 0; s < steps_at_once; ++s) {
    const int unit = first + 16 * s;
    bytes[s] =
        unit < from.columns ? *reinterpret_cast<const uchar4*>(from.bytes + source * from.columns + unit) : uchar4{};
  }
#pragma unroll
  for (int s = 0; s < steps_at_once; ++s) {
    const int unit = first + 16 * s;
    if (unit >= width) break;
    __half2 four[2] = {};
    if (there && unit < from.columns) {
      const auto gray = [&](unsigned char byte) { return fmaf(static_cast<float>(byte), from.scale, batch.offset); };
      four[0] = __floats2half2_rn(gray(bytes[s].x), gray(bytes[s].y));
      four[1] = __floats2half2_rn(gray(bytes[s].z), gray(bytes[s].w));
    }
    *reinterpret_cast<uint2*>(batch.grays + gray_place(static_cast<std::size_t>(row), unit, batch.slab, batch.slabs)) =
        *reinterpret_cast<const uint2*>(four);
  }
}

__device__ inline void make_units(const BatchArguments& batch, std::int64_t i) {
  if (batch.grays != nullptr)
    put_grays(batch, i);
  else
    draw_word(batch, i);
}

constexpr int batch_threads = 256;

int batch_blocks(const BatchArguments& batch) {
  const int steps = batch.slab * batch.slabs / 16;
  const std::int64_t threads = batch.grays != nullptr
                                   ? batch.padded / 8 * 32 * ((steps + steps_at_once - 1) / steps_at_once)
                                   : batch.padded * row_words;
  return static_cast<int>((threads + batch_threads - 1) / batch_threads);
}

__global__ void draw_batch_kernel(const __grid_constant__ BatchArguments batch) {
  make_units(batch, blockIdx.x * static_cast<std::int64_t>(batch_threads) + threadIdx.x);
}

constexpr int block_visible = 16, block_hidden = 64;  // of the weights, by one block of threads

// Four of a row, from a place whose column is a multiple of four.
__device__ inline float4 four_of(const Coefficients& c, int row, int column, float missing) {
  if (c.values == nullptr) return make_float4(missing, missing, missing, missing);
  const float* from = c.values + row * c.row_stride + column * c.column_stride;
  if (c.column_stride == 1) return *reinterpret_cast<const float4*>(from);
  return make_float4(from[0], from[c.column_stride], from[2 * c.column_stride], from[3 * c.column_stride]);
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
  wait_for_kernel_before();
  let_next_kernel_come();
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
    visible_gradient[thread] =
        mean_difference(step.sums.visible, moment_splits * static_cast<int>(MomentSums::visible_parts(step.shape)),
                        visible_padded, unit, step.data_share, step.model_share);
    if (blockIdx.y == 0 && unit < step.visible) step.unary_gradient[unit] = visible_gradient[thread];
  } else if (thread >= 64 && thread < 64 + block_hidden) {
    const int unit = first_hidden + thread - 64;
    hidden_gradient[thread - 64] = mean_difference(step.sums.hidden, moment_splits * step.shape.visible_slabs,
                                                   hidden_padded, unit, step.data_share, step.model_share);
    if (blockIdx.x == 0 && unit < step.hidden) step.unary_gradient[step.visible + unit] = hidden_gradient[thread - 64];
  }
  __syncthreads();
  const int i = thread / 16, j = thread % 16 * 4, v = first_visible + i;
  float row_sum = 0, column_sum[4] = {0, 0, 0, 0}, weight[4] = {0, 0, 0, 0};
  // Widths are multiples of four, so that four units are there or not together.
  if (v < step.visible && first_hidden + j < step.hidden) {
    const std::int64_t place = static_cast<std::int64_t>(v) * step.hidden + first_hidden + j;
    const float4 old_weight = *reinterpret_cast<const float4*>(step.weights + place);
    const float4 old_average = *reinterpret_cast<const float4*>(step.average_weights + place);
    const float4 on_visible = four_of(step.on_visible, v, first_hidden + j, 0),
                 on_hidden = four_of(step.on_hidden, v, first_hidden + j, 0),
                 precision = four_of(step.precision, v, first_hidden + j, 1);
    float average[4];
    const auto one = [&](int e, float w, float m, float alpha, float beta, float factor) {
      const float direction =
          (gradient[j + e][i] - step.decay * w - alpha * visible_gradient[i] - beta * hidden_gradient[j + e]) * factor;
      weight[e] = w + step.rate_weights * direction;
      average[e] = m + step.average_weight * (weight[e] - m);
      row_sum += alpha * direction;
      column_sum[e] = beta * direction;
    };
    one(0, old_weight.x, old_average.x, on_visible.x, on_hidden.x, precision.x);
    one(1, old_weight.y, old_average.y, on_visible.y, on_hidden.y, precision.y);
    one(2, old_weight.z, old_average.z, on_visible.z, on_hidden.z, precision.z);
    one(3, old_weight.w, old_average.w, on_visible.w, on_hidden.w, precision.w);
    *reinterpret_cast<float4*>(step.weights + place) = make_float4(weight[0], weight[1], weight[2], weight[3]);
    *reinterpret_cast<float4*>(step.average_weights + place) =
        make_float4(average[0], average[1], average[2], average[3]);
  }
  for (int e = 0; e < 4; ++e) fresh[i][j + e] = weight[e];
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

constexpr int most_fours = (team * (112 + 64) / 4 + 31) / 32;  // of a row of the inverse, by one lane

// One warp a unit: its row of the inverse covariance times the gradient, and what its weights' step adds. Blocks beyond
// those draw the next batch, which has nothing to do with it and would be a launch of its own.
__global__ void __launch_bounds__(batch_threads)
    biases_kernel(const __grid_constant__ LearnStep step, const __grid_constant__ BatchArguments batch,
                  int own_blocks) {
  // The batch before was read by moments, which were there before the weights' kernel let this one come.
  if (static_cast<int>(blockIdx.x) >= own_blocks) {
    make_units(batch, (blockIdx.x - own_blocks) * static_cast<std::int64_t>(batch_threads) + threadIdx.x);
    return;
  }
  const int unit = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, all = step.visible + step.hidden;
  if (unit >= all) return;
  const bool visible = unit < step.visible;
  const int own = visible ? unit : unit - step.visible;
  const int visible_padded = team * step.shape.visible_slab, hidden_padded = team * step.shape.hidden_slab;
  float product = 0, coupled = 0;
  float4 inverse[most_fours];  // its row, which was there before
  if (step.inverse != nullptr) {
    const float4* row = reinterpret_cast<const float4*>(step.inverse + static_cast<std::int64_t>(unit) * all);
#pragma unroll
    for (int i = 0; i < most_fours; ++i) inverse[i] = 32 * i + lane < all / 4 ? row[32 * i + lane] : float4{};
  }
  wait_for_kernel_before();
  let_next_kernel_come();
  if (step.inverse != nullptr) {
    const float4* gradient = reinterpret_cast<const float4*>(step.unary_gradient);
#pragma unroll
    for (int i = 0; i < most_fours; ++i) {
      if (32 * i + lane >= all / 4) break;
      const float4 x = inverse[i], y = gradient[32 * i + lane];
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

}  // namespace

namespace {

BatchArguments arguments_of(const BatchToDraw& batch) {
  return {batch.key,
          batch.from,
          padded_rows(batch.from.count),
          batch.shape.visible_slab,
          batch.shape.visible_slabs,
          batch.offset,
          batch.to.words,
          static_cast<__half*>(batch.to.grays)};
}

}  // namespace

void draw_batch(const BatchToDraw& batch, Stream stream) {
  const BatchArguments args = arguments_of(batch);
  draw_batch_kernel<<<static_cast<unsigned>(batch_blocks(args)), batch_threads, 0, stream>>>(args);
  check_launch("drawing a batch");
}

LearnRoom learn_room(const WalkShape& shape) {
  const std::int64_t visible = team * shape.visible_slab, hidden = team * shape.hidden_slab;
  return {.row_sums = hidden / block_hidden * visible, .column_sums = visible / block_visible * hidden};
}

void learn(const LearnStep& step, const BatchToDraw* next, Stream stream) {
  const unsigned visible = static_cast<unsigned>(team * step.shape.visible_slab / block_visible),
                 hidden = static_cast<unsigned>(team * step.shape.hidden_slab / block_hidden);
  launch_early(weights_kernel, dim3(visible, hidden), 256, 0, stream, step);
  const BatchArguments batch = next == nullptr ? BatchArguments{.key = Key(0)} : arguments_of(*next);
  const int own = (step.visible + step.hidden + 7) / 8, more = next == nullptr ? 0 : batch_blocks(batch);
  launch_early(biases_kernel, dim3(static_cast<unsigned>(own + more)), batch_threads, 0, stream, step, batch, own);
}

}  // namespace harmonium::cuda
