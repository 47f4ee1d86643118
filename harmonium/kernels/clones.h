// Marks a loop to be compiled for several instruction sets, the best of which is picked when the program starts.
//
// Sanitizers start after the loader resolves such functions, so sanitized builds keep to the baseline.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(HARMONIUM_SANITIZED)
#define HARMONIUM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HARMONIUM_CLONES
#endif

#define HARMONIUM_INLINE inline __attribute__((always_inline))
