// The arithmetic of Adam (kernels/adam_loop.h) for many tensors by one kernel, by raw pointers to device memory.
#pragma once

#include <cstdint>

#include "harmonium/kernels/cuda/elementwise.h"

namespace harmonium::cuda {

// Numbers of one tensor: its gradient, both averages and the direction that is written.
template <class T>
struct AdamPiece {
  const T* gradient;
  T* first;
  T* second;
  T* direction;
  std::int64_t count;
};

template <class T>
struct AdamNumbers {
  T first_decay, second_decay, new_first, new_second, first_scale, second_scale, floor;
};

// At most as many pieces as the arguments of a kernel have room for.
inline constexpr int most_adam_pieces = 48;

// Starts one kernel for `count` pieces (at most most_adam_pieces).
template <class T>
void launch_adam(const AdamPiece<T>* pieces, int count, const AdamNumbers<T>& numbers, Stream stream);

}  // namespace harmonium::cuda
