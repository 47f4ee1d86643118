#include "harmonium/kernels/vector_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
// GCC 12 warns of registers that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace harmonium {

namespace {

namespace baseline {
#define HARMONIUM_LOOPS 128
#include "harmonium/kernels/vector_draws_body.h"
#include "harmonium/kernels/vector_loops_body.h"
#undef HARMONIUM_LOOPS
}  // namespace baseline

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#pragma GCC push_options
#pragma GCC target("avx2,fma,popcnt")
namespace avx2 {
#define HARMONIUM_LOOPS 256
#include "harmonium/kernels/vector_draws_body.h"
#include "harmonium/kernels/vector_loops_body.h"
#undef HARMONIUM_LOOPS
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,fma,popcnt")
namespace avx512 {
#define HARMONIUM_LOOPS 512
#include "harmonium/kernels/vector_draws_body.h"
#include "harmonium/kernels/vector_loops_body.h"
#undef HARMONIUM_LOOPS
}  // namespace avx512
#pragma GCC pop_options

#define HARMONIUM_MANY_LOOPS
#endif

struct Known {
  const VectorLoops* sets[3];
  int count = 0;
  Known() {
    sets[count++] = &baseline::loops;
#if defined(HARMONIUM_MANY_LOOPS)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets[count++] = &avx2::loops;
    if (__builtin_cpu_supports("avx512f")) sets[count++] = &avx512::loops;
#endif
  }
};

const Known& known() {
  static const Known result;
  return result;
}

}  // namespace

const VectorLoops& vector_loops() { return *known().sets[known().count - 1]; }

const VectorLoops* const* all_vector_loops(int& count) {
  count = known().count;
  return known().sets;
}

}  // namespace harmonium
