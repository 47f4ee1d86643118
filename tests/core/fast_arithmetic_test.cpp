#include "harmonium/core/fast_arithmetic.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

namespace harmonium {
namespace {

float half_of(volatile float& x) { return x * 0.5F; }

// In a process of its own: what it sets is for good, and other tests are to run without.
TEST(FastArithmeticDeathTest, FitsTheProcessorAndMultiplies) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto check = [] {
    const std::string before = blas_kernels();
    use_fast_arithmetic();
    const std::string name = blas_kernels();
    bool good = before == "Prescott" || name == before;  // what OpenBLAS has chosen knowingly is left alone
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) good = good && name != "Prescott";
    volatile float smallest = 0x1p-126F;
    float in_thread = 1;
    std::thread([&] { in_thread = half_of(smallest); }).join();
    good = good && half_of(smallest) == 0 && in_thread == 0;
#endif
    const at::Tensor a = at::rand({150, 130}), b = at::rand({130, 170});
    const at::Tensor exact = a.to(at::kDouble).mm(b.to(at::kDouble));
    // 130 products below 1: each rounding is below 2^-24 of a sum below 130.
    good = good && (a.mm(b).to(at::kDouble) - exact).abs().max().item<double>() < 130 * 130 * 0x1p-24;
    std::exit(good ? 0 : 1);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace harmonium
