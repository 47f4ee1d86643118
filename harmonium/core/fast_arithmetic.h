// Arithmetic as fast as the processor has it. Two things stand in the way:
// - OpenBLAS knows processors by their numbers; for one that is younger than itself it takes the kernels of a Prescott
// of
//   2004, six times slower than those of its last AVX-512 processor (Debian 12's on an Emerald Rapids: 23 against 150
//   GFLOP/s a core).
// - Numbers below 10^-38 (derivatives of saturated units, squares of small gradients) are added and multiplied by
//   microcode: a net of logistic units learnt seven times slower for it.
#pragma once

#include <string>

namespace harmonium {

// Takes numbers below 10^-38 (of float64: 10^-308) for 0 in this thread and those it makes from now on, and lets
// OpenBLAS use what fits the processor, where it does not know it and OPENBLAS_CORETYPE has not chosen. A program calls
// it, once, before its first product; a library must not.
void use_fast_arithmetic();
// What OpenBLAS calls the kernels in use, such as "SkylakeX"; empty where products are not its own.
[[nodiscard]] std::string blas_kernels();

}  // namespace harmonium
