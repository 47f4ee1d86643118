// One block works on 4096 numbers of one tensor, so that a net of a hundred small tensors and a net of two large ones
// both fill the device, and either is one launch. Bound by memory: three tensors are read, three written.
#include "harmonium/kernels/cuda/adam.h"
#include "harmonium/kernels/cuda/launch.cuh"

namespace harmonium::cuda {

namespace {

constexpr int numbers_per_thread = 16;
constexpr std::int64_t numbers_per_block = threads_per_block * numbers_per_thread;

// Passed by value: arguments of a kernel may take 4 KB.
template <class T>
struct Work {
  AdamPiece<T> pieces[most_adam_pieces];
  std::int32_t first_block[most_adam_pieces + 1];
  int count;
};

template <class T>
__global__ void __launch_bounds__(threads_per_block) adam_kernel(const Work<T> work, const AdamNumbers<T> k) {
  const auto block = static_cast<std::int32_t>(blockIdx.x);
  int p = 0;
  while (p + 1 < work.count && block >= work.first_block[p + 1]) ++p;
  const AdamPiece<T> piece = work.pieces[p];
  const std::int64_t start = (block - work.first_block[p]) * numbers_per_block + threadIdx.x;
#pragma unroll 4
  for (int step = 0; step < numbers_per_thread; ++step) {
    const std::int64_t i = start + step * threads_per_block;
    if (i >= piece.count) continue;
    const T g = piece.gradient[i];
    const T first = k.first_decay * piece.first[i] + k.new_first * g;
    const T second = k.second_decay * piece.second[i] + k.new_second * g * g;
    piece.first[i] = first;
    piece.second[i] = second;
    piece.direction[i] = k.first_scale * first / (k.second_scale * sqrt(second) + k.floor);
  }
}

}  // namespace

template <class T>
void launch_adam(const AdamPiece<T>* pieces, int count, const AdamNumbers<T>& numbers, Stream stream) {
  Work<T> work{};
  work.count = count;
  for (int p = 0; p < count; ++p) {
    work.pieces[p] = pieces[p];
    const std::int64_t blocks = (pieces[p].count + numbers_per_block - 1) / numbers_per_block;
    work.first_block[p + 1] = work.first_block[p] + static_cast<std::int32_t>(blocks);
  }
  const std::int32_t blocks = work.first_block[count];
  if (blocks == 0) return;
  adam_kernel<T><<<static_cast<unsigned>(blocks), threads_per_block, 0, stream>>>(work, numbers);
  check_launch("Adam");
}

template void launch_adam<float>(const AdamPiece<float>*, int, const AdamNumbers<float>&, Stream);
template void launch_adam<double>(const AdamPiece<double>*, int, const AdamNumbers<double>&, Stream);

}  // namespace harmonium::cuda
