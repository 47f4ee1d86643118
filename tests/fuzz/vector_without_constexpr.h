// Included before everything else in a fuzz build. In C++20 the members of libstdc++'s vector are constexpr, and clang
// (14 at least) instantiates constexpr functions eagerly: also those of std::vector<c10::IValue> where LibTorch 1.13
// has only declared IValue. GCC does not. Without the constexpr, clang waits as well.
#pragma once

#include <iterator>
#include <memory>
#include <string>

#ifdef _GLIBCXX20_CONSTEXPR
#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
// Declared constexpr by the headers above, so its definition (std::fill of bits, unused here) may not come without.
#define __fill_a1 __fill_a1_of_bits
#include <vector>
#undef __fill_a1
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
#endif
