// What the tests of a CUDA device share: where there is none they are skipped, and say why.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/device.h"
#include "harmonium/core/moments.h"
#include "harmonium/core/state.h"
#include "harmonium/kernels/rbm_chains.h"

namespace harmonium {

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string complaint = cuda_complaint(); !complaint.empty()) GTEST_SKIP() << complaint;
  }
  const at::Device cuda_ = at::Device(at::kCUDA, 0);
};

// Products in fp32 while this lives, as the CPU has them.
class ExactProducts {
 public:
  ExactProducts() { set_device_precision(Precision::exact); }
  ~ExactProducts() { set_device_precision(Precision::fast); }
  ExactProducts(const ExactProducts&) = delete;
  ExactProducts& operator=(const ExactProducts&) = delete;
};

[[nodiscard]] inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (on_cpu(a).to(at::kDouble) - on_cpu(b).to(at::kDouble)).abs().max().item<double>();
}

[[nodiscard]] inline std::int64_t count_of_differences(const at::Tensor& a, const at::Tensor& b) {
  return on_cpu(a).ne(on_cpu(b)).sum().item<std::int64_t>();
}

// |a − b| ≤ tolerance·(1 + |b|) in every element, wherever the two are.
inline void expect_near(const at::Tensor& a, const at::Tensor& b, double tolerance, const std::string& what = "") {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  if (a.numel() == 0) return;
  const at::Tensor x = on_cpu(a).to(at::kDouble), y = on_cpu(b).to(at::kDouble);
  const double worst = ((x - y).abs() / (1 + y.abs())).max().item<double>();
  EXPECT_LE(worst, tolerance) << what;  // NaN fails
}

inline void expect_near(const Moments& a, const Moments& b, double tolerance) {
  for (const auto& [name, value] : b.entries()) expect_near(a[name], value, tolerance, name);
}

inline void expect_near(const State& a, const State& b, double tolerance) {
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t layer = 0; layer < b.layers.size(); ++layer)
    if (b.layers[layer].defined()) expect_near(a.layers[layer], b.layers[layer], tolerance);
}

// What a machine on the CPU and its copy on the device come to. In float64 both draw the same: fields differ by 10^-15,
// and a uniform falls into that gap once in 10^15 draws.
inline constexpr double same = 1e-9;

}  // namespace harmonium
