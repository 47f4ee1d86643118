// Weights and states between tables of numbers and the forms that a walk wants.
#include <cuda_fp16.h>

#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/cuda/rbm_walk.h"

namespace harmonium::cuda {

namespace {

// One thread: eight numbers of a column, 16 bytes.
__global__ void arrange_kernel(WalkShape shape, const float* weights, int visible, int hidden, std::int64_t stride,
                               __half* slabs) {
  const int eights = shape.numbers() / 8, rank = blockIdx.y;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < eights; i += gridDim.x * blockDim.x) {
    const bool up = i < shape.up_numbers() / 8;
    const int local = up ? i : i - shape.up_numbers() / 8, columns = up ? shape.hidden_slab : shape.visible_slab;
    const int column = local % columns, k = local / columns * 8;
    const int unit = rank * columns + unit_of_place(column);
    __half numbers[8];
    for (int e = 0; e < 8; ++e) {
      const int other = unit_of_place(k + e), v = up ? other : unit, h = up ? unit : other;
      numbers[e] = __float2half_rn(v < visible && h < hidden ? weights[v * stride + h] : 0.0F);
    }
    *reinterpret_cast<uint4*>(slabs + static_cast<std::size_t>(rank) * shape.numbers() + i * 8) =
        *reinterpret_cast<const uint4*>(numbers);
  }
}

__global__ void pack_kernel(const float* table, std::int64_t rows, std::int64_t padded, int width, int slab,
                            std::uint32_t tag, std::uint32_t* words) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < padded * row_words;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t row = i / row_words;
    const int lane = i % row_words / team;
    std::uint32_t word = tag;
    if (row < rows)
      for (int unit = 0; unit < slab; ++unit) {
        if (unit % 16 / 4 != lane) continue;
        const int place = i % team * slab + unit;
        if (place < width && table[row * width + place] != 0) word |= 1u << bit_place(unit, slab).bit;
      }
    words[i] = word;
  }
}

template <class T>
__global__ void unpack_kernel(const std::uint32_t* words, std::int64_t rows, int width, int slab, T* table,
                              std::int64_t stride) {
  // A block a row: divisions by the width of a layer would be most of the work.
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x)
    for (int unit = static_cast<int>(threadIdx.x); unit < width; unit += static_cast<int>(blockDim.x)) {
      const BitPlace place = bit_place(unit, slab);
      table[row * stride + unit] =
          static_cast<T>(static_cast<float>(words[row * row_words + place.word] >> place.bit & 1));
    }
}

__global__ void means_kernel(const float* input, const float* bias, std::int64_t rows, int width, __half* table,
                             std::int64_t stride) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x)
    for (int unit = static_cast<int>(threadIdx.x); unit < width; unit += static_cast<int>(blockDim.x))
      table[row * stride + unit] = __float2half_rn(1 / (1 + __expf(-(input[row * width + unit] + bias[unit]))));
}

}  // namespace

void arrange_weights(const WalkShape& shape, const float* weights, int visible, int hidden, std::int64_t stride,
                     void* slabs, Stream stream) {
  arrange_kernel<<<dim3(16, team), 256, 0, stream>>>(shape, weights, visible, hidden, stride,
                                                     static_cast<__half*>(slabs));
  check_launch("weights of a walk");
}

void pack_states(const float* table, std::int64_t rows, int width, int slab, int tag, std::uint32_t* words,
                 Stream stream) {
  pack_kernel<<<blocks_for(padded_rows(rows) * row_words), 256, 0, stream>>>(table, rows, padded_rows(rows), width,
                                                                             slab, tag % 2 * tag_bit, words);
  check_launch("states of a walk");
}

void unpack_states(const std::uint32_t* words, std::int64_t rows, int width, int slab, float* table, Stream stream) {
  unpack_kernel<<<blocks_for(rows * 256), 256, 0, stream>>>(words, rows, width, slab, table, width);
  check_launch("states of a walk");
}

void unpack_halves(const std::uint32_t* words, std::int64_t rows, int width, int slab, void* table, std::int64_t stride,
                   Stream stream) {
  unpack_kernel<<<blocks_for(rows * 256), 256, 0, stream>>>(words, rows, width, slab, static_cast<__half*>(table),
                                                            stride);
  check_launch("states of a walk");
}

void put_means(const float* input, const float* bias, std::int64_t rows, int width, void* table, std::int64_t stride,
               Stream stream) {
  means_kernel<<<blocks_for(rows * 256), 256, 0, stream>>>(input, bias, rows, width, static_cast<__half*>(table),
                                                           stride);
  check_launch("means of a layer");
}

}  // namespace harmonium::cuda
