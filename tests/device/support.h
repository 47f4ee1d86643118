// What the tests of a CUDA device share: where there is none they are skipped, and say why.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/device.h"

namespace harmonium {

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string complaint = cuda_complaint(); !complaint.empty()) GTEST_SKIP() << complaint;
  }
  const at::Device cuda_ = at::Device(at::kCUDA, 0);
};

[[nodiscard]] inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (on_cpu(a).to(at::kDouble) - on_cpu(b).to(at::kDouble)).abs().max().item<double>();
}

[[nodiscard]] inline std::int64_t count_of_differences(const at::Tensor& a, const at::Tensor& b) {
  return on_cpu(a).ne(on_cpu(b)).sum().item<std::int64_t>();
}

}  // namespace harmonium
