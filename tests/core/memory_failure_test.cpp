#include "harmonium/core/memory_failure.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace harmonium {
namespace {

std::string complaint_about(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return memory_failure(error).value_or("another error: " + std::string(error.what()));
  }
  return "no error";
}

TEST(MemoryFailure, OfATensorThatNoMachineHoldsSaysHowMuchWasAsked) {
  // 2^60 bytes: beyond what can be addressed, so nothing is taken.
  const std::string text = complaint_about([] { (void)at::empty({std::int64_t{1} << 58}, at::kFloat); });
  EXPECT_NE(text.find("not enough memory for another 1.2 EB"), std::string::npos) << text;
  EXPECT_NE(text.find("@batch, @particles or @hidden"), std::string::npos) << text;
}

TEST(MemoryFailure, OfSizesWhoseProductOverflowsIsKnown) {
  const std::string text = complaint_about([] {
    (void)at::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}, at::kFloat);
  });
  EXPECT_EQ(text.find("not enough memory"), 0U) << text;
}

TEST(MemoryFailure, OfTheStandardLibraryIsKnown) {
  EXPECT_EQ(complaint_about([] { throw std::bad_alloc(); }).find("not enough memory; "), 0U);
}

TEST(MemoryFailure, IsNothingElse) {
  EXPECT_FALSE(memory_failure(std::runtime_error("not enough memory")).has_value());
  EXPECT_EQ(complaint_about([] { (void)at::zeros({2, 3}).matmul(at::zeros({2, 3})); }).find("another error"), 0U);
}

TEST(BytesText, HasTwoDigitsOrThree) {
  EXPECT_EQ(bytes_text(12), "12 B");
  EXPECT_EQ(bytes_text(999.4), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(9.96e6), "10 MB");
  EXPECT_EQ(bytes_text(14.2e9), "14 GB");
}

}  // namespace
}  // namespace harmonium
