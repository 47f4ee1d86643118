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

__global__ void unpack_kernel(const std::uint32_t* words, std::int64_t rows, int width, int slab, float* table,
                              std::int64_t stride) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < rows * width;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const BitPlace place = bit_place(static_cast<int>(i % width), slab);
    table[i / width * stride + i % width] =
        static_cast<float>(words[i / width * row_words + place.word] >> place.bit & 1);
  }
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

void unpack_states(const std::uint32_t* words, std::int64_t rows, int width, int slab, float* table,
                   std::int64_t stride, Stream stream) {
  unpack_kernel<<<blocks_for(rows * width), 256, 0, stream>>>(words, rows, width, slab, table, stride);
  check_launch("states of a walk");
}

}  // namespace harmonium::cuda
