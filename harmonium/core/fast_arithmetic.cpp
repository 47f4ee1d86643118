#include "harmonium/core/fast_arithmetic.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <cstdlib>

namespace harmonium {

namespace {

// A function of a library that may not be there.
template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// The newest kernels of OpenBLAS that this processor can run, if they are newer than those of an unknown one.
const char* fitting() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

void choose_blas_kernels() {
  const char* const wanted = fitting();
  const auto leave = find<void()>("gotoblas_dynamic_quit"), choose = find<void()>("gotoblas_dynamic_init");
  if (wanted == nullptr || leave == nullptr || choose == nullptr || blas_kernels() != "Prescott") return;
  if (setenv("OPENBLAS_CORETYPE", wanted, /*overwrite=*/0) != 0) return;
  leave();
  choose();
}

}  // namespace

std::string blas_kernels() {
  const auto name = find<char*()>("openblas_get_corename");
  return name == nullptr ? "" : name();
}

void use_fast_arithmetic() {
  (void)at::globalContext().setFlushDenormal(true);  // false where a processor cannot
  choose_blas_kernels();
}

}  // namespace harmonium
