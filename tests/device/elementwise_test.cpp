// The kernels of kernels/cuda beside those of the CPU. Uniforms are integers times a power of two, so they are equal to
// the bit. e^x rounds its last bit as the processor's multiply-adds do: given equal fields a draw may differ where u
// falls between two roundings of σ(x), once in millions for float32.
#include "harmonium/geometry/adam.h"
#include "harmonium/kernels/anneal_logistic.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "tests/device/support.h"

namespace harmonium {
namespace {

using DeviceKernels = OnDevice;

// Sizes that end in the middle of a block of draws, and one beyond what a grid takes in one stride.
constexpr std::int64_t odd_size = 100'003, large_size = 8'000'001;
constexpr std::int64_t rare = 8;  // draws of eight million: about 10^-7 of them lie on the boundary

TEST_F(DeviceKernels, UniformsAreThoseOfTheCpuToTheBit) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{7}, odd_size, large_size}) {
      const at::Tensor here = uniform(Key(3), {n}, type),
                       there = uniform(Key(3), {n}, at::TensorOptions(type).device(cuda_));
      EXPECT_TRUE(there.is_cuda());
      EXPECT_EQ(count_of_differences(here, there), 0) << n << " of " << at::toString(type);
    }
}

TEST_F(DeviceKernels, NormalNumbersAgreeToRounding) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor here = normal(Key(4), {odd_size}, type),
                     there = normal(Key(4), {odd_size}, at::TensorOptions(type).device(cuda_));
    EXPECT_LT(largest_difference(here, there), type == at::kFloat ? 5e-6 : 1e-13);
  }
}

TEST_F(DeviceKernels, DrawsGivenEqualFieldsAreEqual) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor field = 3 * normal(Key(5), {large_size}, type), p = uniform(Key(6), {large_size}, type);
    EXPECT_LE(count_of_differences(sample_logistic(Key(7), field), sample_logistic(Key(7), field.to(cuda_))),
              type == at::kFloat ? rare : 0);
    EXPECT_EQ(count_of_differences(sample_bernoulli(Key(8), p), sample_bernoulli(Key(8), p.to(cuda_))), 0);
  }
}

TEST_F(DeviceKernels, RowsOfBytesAreDrawnAlike) {
  const at::Tensor bytes = (uniform(Key(9), {300, 77}) * 256).to(at::kByte),
                   rows = permutation(Key(10), 300).narrow(0, 0, 123);
  EXPECT_EQ(count_of_differences(sample_bernoulli(Key(11), bytes, rows, 1.0 / 255),
                                 sample_bernoulli(Key(11), bytes.to(cuda_), rows.to(cuda_), 1.0 / 255)),
            0);
}

TEST_F(DeviceKernels, LogisticAndSoftplusAgreeToRounding) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor field = 5 * normal(Key(12), {1001, 79}, type);
    EXPECT_LT(largest_difference(logistic(field), logistic(field.to(cuda_))), type == at::kFloat ? 3e-7 : 1e-15);
    const at::Tensor there = softplus_row_sums(field.to(cuda_));
    EXPECT_EQ(there.scalar_type(), at::kDouble);
    EXPECT_LT(largest_difference(softplus_row_sums(field), there), type == at::kFloat ? 1e-4 : 1e-11);
  }
}

TEST_F(DeviceKernels, ScaledFieldsAreDrawnAndWeighedAlike) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble})
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{77}, std::int64_t{784}}) {
      const std::int64_t rows = 999;
      const at::Tensor input = 2 * normal(Key(13), {rows, columns}, type), bias = normal(Key(14), {columns}, type),
                       other_bias = normal(Key(15), {columns}, type);
      const at::Tensor input_there = input.to(cuda_), bias_there = bias.to(cuda_), other_there = other_bias.to(cuda_);
      EXPECT_LE(count_of_differences(sample_logistic(Key(16), {input, bias, 0.7}),
                                     sample_logistic(Key(16), {input_there, bias_there, 0.7})),
                type == at::kFloat ? 2 : 0);
      at::Tensor weights = uniform(Key(17), {rows}, at::kDouble), weights_there = weights.to(cuda_);
      const at::Tensor here = anneal_logistic(Key(18), {input, bias, 0.6}, {input, other_bias, 0.7}, weights),
                       there = anneal_logistic(Key(18), {input_there, bias_there, 0.6}, {input_there, other_there, 0.7},
                                               weights_there);
      EXPECT_LE(count_of_differences(here, there), type == at::kFloat ? 2 : 0);
      EXPECT_LT(largest_difference(weights, weights_there), type == at::kFloat ? 2e-4 : 1e-11);
    }
}

TEST_F(DeviceKernels, EmptyTensorsAreNoMistake) {
  EXPECT_EQ(uniform(Key(1), {0}, at::TensorOptions(at::kFloat).device(cuda_)).numel(), 0);
  EXPECT_EQ(softplus_row_sums(at::zeros({0, 5}, at::TensorOptions().device(cuda_))).numel(), 0);
  EXPECT_EQ(largest_difference(softplus_row_sums(at::zeros({3, 0}, at::TensorOptions().device(cuda_))), at::zeros({3})),
            0);
}

// Products of float32 keep all their bits: a TF32 product would be off by 10^-3.
TEST_F(DeviceKernels, MatrixProductsAreExactToFloat32) {
  const at::Tensor a = normal(Key(19), {500, 784}), b = normal(Key(20), {784, 300});
  EXPECT_LT(largest_difference(a.to(cuda_).mm(b.to(cuda_)), a.to(at::kDouble).mm(b.to(at::kDouble))), 2e-4);
}

// More tensors than one launch takes, of lengths around a block's, some laid out the other way round.
TEST_F(DeviceKernels, AdamWorksOnManyTensorsAsOnTheCpu) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    Moments shape;
    std::vector<ParameterGroup> groups = {{.names = {}, .kind = ParameterKind::weights}};
    for (std::int64_t i = 0; i < 101; ++i) {
      const std::string name = format("x{}", i);
      shape.insert(name, at::zeros({i % 3 + 1, i == 40 ? 40'000 : 1 + 97 * i}, type));
      groups.front().names.push_back(name);
    }
    const at::TensorOptions device = at::TensorOptions().device(cuda_);
    Adam here(groups, shape), there(groups, shape.to(device));
    for (std::int64_t update = 0; update < 3; ++update) {
      const Key key = Key(20).fold_in(static_cast<std::uint64_t>(update));
      Moments gradient;
      for (std::uint64_t i = 0; const auto& [name, value] : shape.entries())
        gradient.insert(name, normal(key.fold_in(i++), {value.size(1), value.size(0)}, type).t());
      expect_near(there.direction(gradient.to(device), update).pairwise, here.direction(gradient, update).pairwise,
                  type == at::kFloat ? 1e-5 : 1e-12);
    }
  }
}

TEST_F(DeviceKernels, MomentsCombineAsOnTheCpu) {
  const Moments a{{"x", normal(Key(21), {33, 7})}, {"y", normal(Key(22), {5})}},
      b{{"x", normal(Key(23), {7, 33}).t()}, {"y", normal(Key(24), {5})}};
  const at::TensorOptions device = at::TensorOptions().device(cuda_);
  const Moments c = b.to(device);
  expect_near(a.to(device).clone().add_(c, 0.3), a.clone().add_(b, 0.3), 1e-6);
  expect_near(a.to(device).clone().lerp_(c, 0.2), a.clone().lerp_(b, 0.2), 1e-6);
  expect_near(a.to(device).clone().add_some_(Moments{{"y", c["y"]}}, -2),
              a.clone().add_some_(Moments{{"y", b["y"]}}, -2), 1e-6);
}

}  // namespace
}  // namespace harmonium
