// A net of causal convolutions on the device beside the CPU: conditionals, gradients, draws.
#include "harmonium/models/autoregressive/pixel_net.h"

#include <c10/core/GradMode.h>

#include "harmonium/kernels/random.h"
#include "harmonium/training/loss_gradient.h"
#include "tests/device/support.h"

namespace harmonium {
namespace {

class PixelNetOnDevice : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped()) (void)find_device("cuda");  // convolutions in float32, the same bits every time
  }
  [[nodiscard]] static PixelNet random_net(at::ScalarType type) {
    PixelNet net({.height = 9, .width = 8, .channels = 32, .blocks = 2, .attention = 1}, type);
    for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
      at::Tensor(value).copy_(0.1 * normal(Key(3).fold_in(i++), value.sizes(), value.options()));
    return net;
  }
  [[nodiscard]] static at::Tensor rows(std::int64_t count, const at::TensorOptions& options) {
    return uniform(Key(4), {count, 72}, options).gt(0.5).to(options);
  }
  [[nodiscard]] static LossGradient gradient_of(const PixelNet& net, const at::Tensor& rows) {
    const c10::AutoGradMode with_gradient(true);
    return loss_gradient(net.parameters(), [&](const Moments& leaves) {
      return net.log_prob(leaves, rows, /*dropout=*/0.3, Key(5)).mean();
    });
  }
};

TEST_F(PixelNetOnDevice, HasTheConditionalsAndTheGradientOfTheCpu) {
  for (const auto& [type, close] : {std::pair{at::kDouble, same}, {at::kFloat, 1e-3}}) {
    const PixelNet here = random_net(type), there = here.to(at::TensorOptions().device(cuda_));
    const at::Tensor x = rows(40, type), y = x.to(cuda_);
    expect_near(there.raw(there.parameters(), y), here.raw(here.parameters(), x), close);
    const LossGradient a = gradient_of(there, y), b = gradient_of(here, x);
    expect_near(a.loss, b.loss, close);
    expect_near(a.gradient, b.gradient, close);
  }
}

TEST_F(PixelNetOnDevice, HasTheSameGradientEveryTime) {
  const PixelNet net = random_net(at::kFloat).to(at::TensorOptions().device(cuda_));
  const at::Tensor x = rows(100, at::kFloat).to(cuda_);
  const Moments one = gradient_of(net, x).gradient, other = gradient_of(net, x).gradient;
  for (const auto& [name, value] : one.entries()) EXPECT_EQ(count_of_differences(value, other[name]), 0) << name;
}

TEST_F(PixelNetOnDevice, DrawsWhatTheCpuDraws) {
  const PixelNet here = random_net(at::kDouble), there = here.to(at::TensorOptions().device(cuda_));
  const OrderedDraw a = there.sample(Key(6), 20), b = here.sample(Key(6), 20);
  EXPECT_EQ(count_of_differences(a.values, b.values), 0);
  expect_near(a.means, b.means, same);
}

}  // namespace
}  // namespace harmonium
