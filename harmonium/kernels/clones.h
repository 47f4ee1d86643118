// Marks a loop to be compiled for several instruction sets, the best of which is picked when the program starts.
//
// Sanitizers start after the loader resolves such functions, so sanitized builds keep to the baseline.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(HARMONIUM_SANITIZED)
#define HARMONIUM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HARMONIUM_CLONES
#endif

// Functions that loops are made of; CUDA kernels use the same ones (kernels/cuda).
#if defined(__CUDACC__)
#define HARMONIUM_INLINE __host__ __device__ inline __attribute__((always_inline))
#else
#define HARMONIUM_INLINE inline __attribute__((always_inline))
#endif
