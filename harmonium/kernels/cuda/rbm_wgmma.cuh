// Products of a warpgroup (four warps, 64 rows) with a matrix in shared memory, on Hopper's tensor cores: 64 × 16
// numbers of fp16 in registers times 16 × N of fp16 in shared memory, added to 64 × N of fp32 in registers.
//
// Thread 32w + l of the warpgroup holds, of A, rows 16w + l/4 and that + 8, columns 2(l%4), +1 (registers 0 and 1 for
// the two rows) and 8 more (registers 2 and 3); of the sums, for every eight columns j, columns 8j + 2(l%4), +1 of the
// first row (4j, 4j+1) and of the second (4j+2, 4j+3).
#pragma once

#include <cstdint>

namespace harmonium::cuda {

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most `left` of the groups that were committed are under way.
template <int left>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

// The matrix as the tensor core reads it: pieces of 8 columns × 8 k of 128 bytes, a column's 8 numbers side by side;
// pieces of neighbouring columns follow each other, then come the next 8 k.
template <int N>
__device__ inline std::uint64_t slab_descriptor(const void* shared) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  constexpr std::uint64_t next_k = N / 8 * 128, next_columns = 128;
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | next_k >> 4 << 16 | next_columns >> 4 << 32;
}
// What the descriptor grows by from one step of 16 k to the next.
template <int N>
inline constexpr std::uint64_t slab_step = N * 32 / 16;

#define HARMONIUM_F8(i)                                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define HARMONIUM_A "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

// d = a·b, or d + a·b where `add` is not zero.
template <int N>
__device__ inline void wgmma(float (&d)[N / 2], const std::uint32_t (&a)[4], std::uint64_t b, int add);

template <>
__device__ inline void wgmma<32>(float (&d)[16], const std::uint32_t (&a)[4], std::uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
      "{%16,%17,%18,%19}, %20, p, 1, 1, 0; }\n"
      : HARMONIUM_F8(0), HARMONIUM_F8(8)
      : HARMONIUM_A, "l"(b), "r"(add));
}

template <>
__device__ inline void wgmma<64>(float (&d)[32], const std::uint32_t (&a)[4], std::uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, p, 1, 1, 0; }\n"
      : HARMONIUM_F8(0), HARMONIUM_F8(8), HARMONIUM_F8(16), HARMONIUM_F8(24)
      : HARMONIUM_A, "l"(b), "r"(add));
}

template <>
__device__ inline void wgmma<112>(float (&d)[56], const std::uint32_t (&a)[4], std::uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %61, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,"
      "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55}, {%56,%57,%58,%59}, %60, p, 1, 1, 0; }\n"
      : HARMONIUM_F8(0), HARMONIUM_F8(8), HARMONIUM_F8(16), HARMONIUM_F8(24), HARMONIUM_F8(32), HARMONIUM_F8(40),
        HARMONIUM_F8(48)
      : HARMONIUM_A, "l"(b), "r"(add));
}

// The same with both matrices in shared memory and turned: k is the outer direction, 64 rows of A and N columns of B
// lie side by side. Pieces of 8 × 8 are as in a slab, with eight k of eight rows (columns) each.
__device__ inline std::uint64_t turned_descriptor(const void* shared, std::uint64_t next_k, std::uint64_t next_rows) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | next_k >> 4 << 16 | next_rows >> 4 << 32;
}
template <int N>
__device__ inline void wgmma_turned(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, int add);

template <>
__device__ inline void wgmma_turned<32>(float (&d)[16], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
      "}, %16, %17, p, 1, 1, 1, 1; }\n"
      : HARMONIUM_F8(0), HARMONIUM_F8(8)
      : "l"(a), "l"(b), "r"(add));
}

template <>
__device__ inline void wgmma_turned<64>(float (&d)[32], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"
      "%24,%25,%26,%27,%28,%29,%30,%31"
      "}, %32, %33, p, 1, 1, 1, 1; }\n"
      : HARMONIUM_F8(0), HARMONIUM_F8(8), HARMONIUM_F8(16), HARMONIUM_F8(24)
      : "l"(a), "l"(b), "r"(add));
}

template <>
__device__ inline void wgmma_turned<112>(float (&d)[56], std::uint64_t a, std::uint64_t b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %58, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"
      "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,"
      "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55"
      "}, %56, %57, p, 1, 1, 1, 1; }\n"
      : HARMONIUM_F8(0), HARMONIUM_F8(8), HARMONIUM_F8(16), HARMONIUM_F8(24), HARMONIUM_F8(32), HARMONIUM_F8(40),
        HARMONIUM_F8(48)
      : "l"(a), "l"(b), "r"(add));
}

#undef HARMONIUM_F8
#undef HARMONIUM_A

}  // namespace harmonium::cuda
