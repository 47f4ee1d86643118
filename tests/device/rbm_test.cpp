// Chains of binary RBMs that walk on tensor cores beside the plain definitions, and what is built on them: sweeps,
// annealing and updates. Weights are rounded to fp16 in products, so that a field is off by at most 2⁻¹¹ of the sum of
// the weights it adds up, and a draw may differ where the uniform is as near to its probability.
#include <cmath>

#include "harmonium/data/digits.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/path_walk.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/make_training.h"
#include "tests/device/support.h"

namespace harmonium {
namespace {

struct Size {
  std::int64_t visible, hidden, rows;
  friend void PrintTo(const Size& size, std::ostream* out) {
    *out << size.visible << "x" << size.hidden << " " << size.rows;
  }
};

BoltzmannMachine random_rbm_of(std::int64_t visible, std::int64_t hidden, double scale = 0.1) {
  BoltzmannMachine machine = make_rbm(format("bernoulli:{}", visible), format("bernoulli:{}", hidden));
  machine.parameters()["visible_hidden.weights"].copy_(normal(Key(1), {visible, hidden}) * scale);
  machine.parameters()["visible.bias"].copy_(normal(Key(2), {visible}) - 0.5);
  machine.parameters()["hidden.bias"].copy_(normal(Key(3), {hidden}) - 0.5);
  return machine;
}

// The uniforms of a walk that only sweeps: two rows share their random words (kernels/cuda/rbm_walk.h).
at::Tensor uniforms_of_walk(const Key& key, at::IntArrayRef sizes) {
  at::Tensor result = at::empty(sizes, at::kFloat);
  auto u = result.accessor<float, 2>();
  for (std::int64_t row = 0; row < sizes[0]; ++row)
    for (std::int64_t unit = 0; unit < sizes[1]; ++unit) {
      const auto element = static_cast<std::uint64_t>((row & ~8) * sizes[1] + unit);
      const std::uint32_t word = key.block(element / 4)[element % 4];
      u[row][unit] = static_cast<float>(((row & 8) == 0 ? word : word << 16 | word >> 16) >> 8) * 0x1p-24F;
    }
  return result;
}

// Every draw but those whose uniform is within what rounding may have moved the probability by.
void expect_draws(const Key& key, const at::Tensor& field, const at::Tensor& drawn, const at::Tensor& input_size) {
  const at::Tensor u = uniforms_of_walk(key, field.sizes()), p = logistic(field);
  const at::Tensor slack = input_size * 0x1p-11 + 1e-6;  // dσ/dx ≤ 1/4, and halves of units in the last place
  EXPECT_EQ(drawn.ne(u.lt(p).to(at::kFloat)).logical_and((u - p).abs().gt(slack)).sum().item<std::int64_t>(), 0);
}

class WalksOnDevice : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (!RbmChains::serve(random_rbm_of(8, 8).to(cuda_).parameters()["visible_hidden.weights"]))
      GTEST_SKIP() << "the device has not the tensor cores for it";
  }
};

class RbmOnDevice : public WalksOnDevice, public testing::WithParamInterface<Size> {};

TEST_P(RbmOnDevice, DrawsWhatTheUniformsSay) {
  const Size size = GetParam();
  const BoltzmannMachine here = random_rbm_of(size.visible, size.hidden), there = here.to(cuda_);
  const Moments& theta = here.parameters();
  const at::Tensor& weights = theta["visible_hidden.weights"];
  State state = there.independent_sample(Key(4), size.rows);
  const at::Tensor before = on_cpu(state.layers[1]);
  gibbs(there, state, Key(5), 1);
  const at::Tensor visible = on_cpu(state.layers[0]), hidden = on_cpu(state.layers[1]);
  const Key key = Key(5).fold_in(0);
  expect_draws(key.fold_in(0), at::addmm(theta["visible.bias"], before, weights.t()), visible,
               before.mm(weights.t().abs()));
  expect_draws(key.fold_in(1), at::addmm(theta["hidden.bias"], visible, weights), hidden, visible.mm(weights.abs()));
}

TEST_P(RbmOnDevice, WalksAsFarInOneGoAsStepByStep) {
  const Size size = GetParam();
  const BoltzmannMachine machine = random_rbm_of(size.visible, size.hidden).to(cuda_);
  const at::Tensor& weights = machine.parameters()["visible_hidden.weights"];
  const RbmParameters parameters{weights, machine.parameters()["visible.bias"], machine.parameters()["hidden.bias"]};
  const State start = machine.independent_sample(Key(4), size.rows);
  std::vector<StepKeys> keys;
  for (std::uint64_t step = 0; step < 300; ++step)
    keys.push_back({Key(6).fold_in(step).bits(), Key(7).fold_in(step).bits()});
  RbmChains once(weights, size.rows), often(weights, size.rows);
  for (RbmChains* each : {&once, &often}) {
    each->arrange(weights);
    each->set({}, start.layers[1]);
  }
  once.sweep(parameters, keys);
  for (const StepKeys& key : keys) often.sweep(parameters, {key});
  EXPECT_EQ(count_of_differences(once.visible(), often.visible()), 0);
  EXPECT_EQ(count_of_differences(once.hidden(), often.hidden()), 0);
}

// Widths at the edges of slabs, rows at those of tiles.
INSTANTIATE_TEST_SUITE_P(All, RbmOnDevice,
                         testing::Values(Size{4, 4, 1}, Size{256, 256, 64}, Size{260, 12, 65}, Size{784, 500, 200},
                                         Size{896, 512, 1100}, Size{500, 784, 130}, Size{512, 896, 63}),
                         [](const testing::TestParamInfo<Size>& one) {
                           return format("{}x{}rows{}", one.param.visible, one.param.hidden, one.param.rows);
                         });

TEST_F(WalksOnDevice, AreNotTakenWhereTheyWouldBeWrong) {
  EXPECT_FALSE(RbmChains::serve(random_rbm_of(6, 4).to(cuda_).parameters()["visible_hidden.weights"]));  // not by fours
  EXPECT_FALSE(
      RbmChains::serve(random_rbm_of(2000, 500).to(cuda_).parameters()["visible_hidden.weights"]));  // too wide
  const at::Tensor fits = random_rbm_of(8, 8).to(cuda_).parameters()["visible_hidden.weights"];
  EXPECT_TRUE(RbmChains::serve(fits));
  EXPECT_FALSE(RbmChains::serve(fits.to(at::kDouble)));
  EXPECT_FALSE(RbmChains::serve(fits.cpu()));
  const ExactProducts exact;
  EXPECT_FALSE(RbmChains::serve(fits));
}

TEST_F(WalksOnDevice, AnnealToTheExactLogZBothWays) {
  // 20 hidden units: log Z is known. 2000 chains of 2000 steps, so that noise is far below the bound; both layers
  // summed out.
  const BoltzmannMachine here = random_rbm_of(64, 20, 0.4), there = here.to(cuda_);
  const double exact = exact_log_z(here.to(at::kDouble)).value;
  for (const SumOut sum_out : {SumOut::odd, SumOut::even}) {
    const AnnealingPath path(uniform_base(there), {there}, linear_schedule(2000), sum_out);
    ASSERT_NE(PathWalk::make(path), nullptr);
    const AisResult up = ais(path, 2000, {.seed = 1});
    EXPECT_NEAR(up.log_z.value, exact, 0.02);  // 8 standard errors: false alarm below 1e-12
    State samples = there.independent_sample(Key(8), 2000);
    gibbs(there, samples, Key(9), 1000);
    EXPECT_NEAR(reverse_ais(path, samples, {.seed = 2}).log_z.value, exact, 0.04);
  }
}

TEST_F(WalksOnDevice, AddTheWeightsOfSingleSteps) {
  // The same path in exact products: chains differ by a few draws, so that averages of weights agree within their
  // noise.
  const BoltzmannMachine there = random_rbm_of(64, 48, 0.2).to(cuda_);
  const AnnealingPath path(uniform_base(there), {there}, linear_schedule(1000));
  const AisResult fast = ais(path, 4000, {.chains_at_once = 4000, .seed = 3});
  const AisResult exact = [&] {
    const ExactProducts products;
    return ais(path, 4000, {.chains_at_once = 4000, .seed = 3});
  }();
  const double error = std::sqrt((fast.log_weights.var() + exact.log_weights.var()).item<double>() / 4000);
  EXPECT_NEAR(fast.log_weights.mean().item<double>(), exact.log_weights.mean().item<double>(), 6 * error);
  // Most chains draw the same all the way and differ by rounding alone.
  EXPECT_LT((fast.log_weights - exact.log_weights).abs().median().item<double>(), 0.05);
}

Training device_training(const std::string& optimizer, std::int64_t batch, std::int64_t particles, double decay) {
  const Dataset data = digits();
  BoltzmannMachine machine = make_rbm("bernoulli:64", "bernoulli:16");
  initialize(machine, Key(1), 0.05, {{data.column_means().to(at::kFloat)}});
  machine = machine.to(at::Device(at::kCUDA, 0));
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters());
  return make_training(
      std::move(machine),
      BatchStream(data, {.batch = batch, .binarization = Binarization::stochastic}, Key(2), at::Device(at::kCUDA, 0)),
      make_negative_phase("pcd", {.sweeps = 2, .particles = particles}), std::move(metric),
      {.rate_bias = 0.1, .rate_weights = 0.03, .weight_decay = decay}, {.updates = 400, .seed = 5});
}

// Both ways of an update, the fast one and the general one in fp32.
std::pair<Training, Training> two_ways(const std::string& optimizer, std::int64_t batch, std::int64_t particles,
                                       double decay = 0) {
  Training fast = device_training(optimizer, batch, particles, decay);
  const ExactProducts exact;
  Training general = device_training(optimizer, batch, particles, decay);
  return {std::move(fast), std::move(general)};
}

TEST_F(WalksOnDevice, FirstUpdateIsTheGeneralOne) {
  for (const std::string optimizer : {"fang", "centering", "sgd"})
    for (const auto& [batch, particles] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{64, 64}, {100, 130}, {257, 40}}) {
      auto [fast, general] = two_ways(optimizer, batch, particles, 1e-3);
      fast.step();
      {
        const ExactProducts exact;
        general.step();
      }
      // One draw that differs moves a moment by 1/rows and what follows by that times a rate; there are few.
      for (const auto& [name, value] : general.parameters().entries()) {
        expect_near(fast.parameters()[name], value, 0.02, optimizer + " " + name);
        expect_near(fast.averaged()[name], general.averaged()[name], 0.02, name);
      }
      EXPECT_NEAR(fast.gradient_norm(), general.gradient_norm(), 0.05 * general.gradient_norm());
      EXPECT_LE(count_of_differences(chains_of(fast).layers[0], chains_of(general).layers[0]), particles * 64 / 200);
    }
}

// Gray values, of every width of a slab. Rates of one make parameters the gradient itself; draws that differ move it by
// one part in the rows each. Bits in place of gray values would move it by √(p(1 − p)/rows), seven parts in a hundred
// rows for the farthest of many units, and values without their offset by a fifth.
TEST_F(WalksOnDevice, GrayValuesMoveParametersAsTheGeneralWayDoes) {
  for (const auto& [visible, hidden, batch] : std::vector<Size>{{64, 16, 100}, {300, 200, 257}, {784, 500, 130}}) {
    const Dataset data{
        .name = "grays", .values = uniform(Key(8), {400, visible}).square().mul(255).to(at::kByte), .scale = 1.0 / 255};
    const auto made = [&] {
      BoltzmannMachine machine = random_rbm_of(visible, hidden, 0.02).to(cuda_);
      auto metric = make_metric("sgd", machine.topology(), machine.parameters());
      return make_training(std::move(machine), BatchStream(data, {.batch = batch, .shrink = 0.2}, Key(2), cuda_),
                           make_negative_phase("pcd", {.particles = 100}), std::move(metric),
                           {.rate_bias = 1, .rate_weights = 1}, {.updates = 400, .seed = 5});
    };
    Training fast = made();
    fast.step();
    const ExactProducts exact;
    Training general = made();
    general.step();
    for (const auto& [name, value] : general.parameters().entries())
      expect_near(fast.parameters()[name], value, 0.03, format("{} of {}x{}", name, visible, hidden));
  }
}

TEST_F(WalksOnDevice, TrainsAsWellAsTheGeneralWay) {
  // Exact log-likelihood after 400 updates by both ways: seeds and draws are the same, so that only rounding differs,
  // and what grows from it.
  const at::Tensor rows = digits().to_float().round().to(at::kDouble);
  const auto score = [&](Training& training) {
    while (!training.finished()) training.step();
    const BoltzmannMachine machine = averaged_machine(training).to(at::TensorOptions(at::kDouble).device(at::kCPU));
    return machine.log_sum_out(machine.observe({rows}), {1}).mean().item<double>() - exact_log_z(machine).value;
  };
  auto [fast, general] = two_ways("fang", 100, 100);
  const double one = score(fast);
  const ExactProducts exact;
  const double other = score(general);
  EXPECT_GT(one, -30);  // base rates alone come to −34
  EXPECT_NEAR(one, other, 0.3);
}

TEST_F(WalksOnDevice, ResumeGoesOnBitByBit) {
  Training whole = device_training("fang", 100, 130, 0), first = device_training("fang", 100, 130, 0),
           second = device_training("fang", 100, 130, 0);
  for (int update = 0; update < 130; ++update) whole.step();
  for (int update = 0; update < 57; ++update) first.step();
  second.restore(57, first.state());
  for (int update = 57; update < 130; ++update) second.step();
  for (const auto& [name, value] : whole.parameters().entries())
    EXPECT_EQ(count_of_differences(second.parameters()[name], value), 0) << name;
  EXPECT_EQ(count_of_differences(chains_of(second).layers[1], chains_of(whole).layers[1]), 0);
}

TEST_F(WalksOnDevice, WhatIsRestoredIsNotOverwrittenByChainsFromBefore) {
  Training training = device_training("sgd", 64, 64, 0);
  for (int update = 0; update < 3; ++update) training.step();
  NamedTensors early;  // copies: a state shares its tensors with the training
  for (const auto& [name, value] : training.state()) early.emplace_back(name, value.clone());
  for (int update = 3; update < 6; ++update) training.step();
  training.restore(3, early);
  const NamedTensors again = training.state();
  for (const auto& [name, value] : early)
    EXPECT_EQ(count_of_differences(find_tensor(again, name, "state"), value), 0) << name;
}

TEST_F(WalksOnDevice, HiddenUnitsThatAreMeansGoTheGeneralWay) {
  const BoltzmannMachine machine = random_rbm_of(64, 48).to(cuda_);
  State fast = machine.independent_sample(Key(4), 100);
  fast.layers[1] = fast.layers[1] * 0.5 + 0.25;
  State general = fast;
  gibbs(machine, fast, Key(5), 1);
  const ExactProducts exact;
  gibbs(machine, general, Key(5), 1);
  for (std::size_t layer = 0; layer < 2; ++layer)
    EXPECT_EQ(count_of_differences(fast.layers[layer], general.layers[layer]), 0);
}

}  // namespace
}  // namespace harmonium
