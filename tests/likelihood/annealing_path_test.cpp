// Paths of several lines, bases with weights, and either block summed out: all unbiased, on machines known exactly.
#include "harmonium/likelihood/annealing_path.h"

#include <gtest/gtest.h>

#include <limits>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/moment_averaging.h"
#include "harmonium/likelihood/schedule.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::randomized;

constexpr std::int64_t crowd = 6'000;
const AnnealingOptions all_at_once{.chains_at_once = crowd, .seed = 60};

// 5.5 standard errors: false-alarm rate 4e-8 for each path.
void expect_unbiased(const AnnealingPath& path, const std::string& what) {
  SCOPED_TRACE(what);
  const at::Tensor log_weights = ais(path, crowd, all_at_once).log_weights;
  const at::Tensor ratio = (log_weights - exact_log_z(path.target()).value).exp();
  support::expect_mean(ratio, at::ones({}, at::kDouble));
  EXPECT_GT(ratio.std().item<double>(), 0.003) << "weights that do not vary test nothing";
}

std::vector<BoltzmannMachine> small_machines() {
  return {make_rbm("bernoulli:6", "bernoulli:4", at::kDouble),
          make_rbm("softmax:2x3", "bernoulli:4", at::kDouble),
          make_rbm("gaussian:3", "bernoulli:4", at::kDouble),
          make_rbm("bernoulli:4", "gaussian:3", at::kDouble),
          make_rbm("bernoulli:4", "cardinality:5<=2", at::kDouble),
          make_rbm("bernoulli:4", "pooled:2x2", at::kDouble),
          make_rbm("bernoulli:4", "or_pooled:2x2", at::kDouble),
          make_rbm("bernoulli:4", "stepped:3x4", at::kDouble),
          make_rbm("gaussian:2", "stepped:2x4", at::kDouble),
          make_rbm("poisson:2", "bernoulli:4", at::kDouble),
          make_rbm("bernoulli:4", "relu:3", at::kDouble),
          make_rbm("relu:2", "bernoulli:4", at::kDouble),
          make_rbm("bernoulli:4", "drelu:2", at::kDouble),
          make_rbm("bernoulli:4", "spike_slab:3", at::kDouble),
          make_classification_rbm("bernoulli:4", 3, "bernoulli:4", at::kDouble),
          make_chain({"bernoulli:4", "bernoulli:3", "softmax:2x2"}, at::kDouble),
          make_mrf("bernoulli:6", at::kDouble),
          make_mrf("softmax:3x3", at::kDouble),
          make_semi_restricted("bernoulli:5", "bernoulli:3", at::kDouble),
          make_boltzmann("bernoulli:5", "bernoulli:3", {}, at::kDouble),
          make_boltzmann("softmax:2x2", "bernoulli:3", {.visible = false}, at::kDouble)};
}

TEST(AnnealingPath, IsUnbiasedWhicheverBlockIsSummedOut) {
  const support::ThreadCount one_thread(1);
  for (const BoltzmannMachine& machine : small_machines())
    for (const SumOut sum_out : {SumOut::odd, SumOut::even}) {
      if (sum_out == SumOut::even && machine.inner_edge(0) != nullptr) continue;  // joined units are kept
      const BoltzmannMachine target = randomized(machine.to(at::kDouble), 61, 0.5);
      expect_unbiased({uniform_base(target), {target}, {0, 0.4, 1}, sum_out}, machine.unit(0).spec());
    }
}

TEST(AnnealingPath, SumsOutWhatCanBe) {
  const auto walked = [](const BoltzmannMachine& machine, SumOut sum_out = SumOut::odd) {
    return walked_layers(machine, sum_out);
  };
  EXPECT_EQ(walked(make_rbm("bernoulli:2", "bernoulli:2")).summed, LayerSet{1});
  EXPECT_EQ(walked(make_rbm("bernoulli:2", "bernoulli:2"), SumOut::even).summed, LayerSet{0});
  EXPECT_EQ(walked(make_boltzmann("bernoulli:2", "bernoulli:2", {.hidden = false})).summed, LayerSet{1});
  EXPECT_EQ(walked(make_boltzmann("bernoulli:2", "bernoulli:2", {.visible = false})).summed, LayerSet{0});
  EXPECT_EQ(walked(make_boltzmann("bernoulli:2", "bernoulli:2")).summed, LayerSet{});
  EXPECT_EQ(walked(make_boltzmann("bernoulli:2", "bernoulli:2")).kept, (LayerSet{0, 1}));
  support::expect_mentions(
      support::message_of([&] { (void)walked(make_boltzmann("bernoulli:2", "bernoulli:2"), SumOut::even); }),
      {"visible", "joined to each other", "sum"});
}

TEST(AnnealingPath, IsUnbiasedThroughAnyKnots) {
  const support::ThreadCount one_thread(1);
  for (const BoltzmannMachine& machine : small_machines()) {
    const BoltzmannMachine target = randomized(machine.to(at::kDouble), 62, 0.5),
                           knot = randomized(machine.to(at::kDouble), 63, 0.5);
    expect_unbiased({uniform_base(target), {knot, target}, {0, 0.5, 1, 1.25, 2}}, machine.unit(0).spec());
  }
}

TEST(AnnealingPath, IsUnbiasedFromABaseWithWeights) {
  const support::ThreadCount one_thread(1);
  for (const BoltzmannMachine& machine : small_machines()) {
    const BoltzmannMachine target = randomized(machine.to(at::kDouble), 64, 0.6),
                           base = randomized(machine.to(at::kDouble), 65, 0.4);
    expect_unbiased({BaseModel(base, "given"), {target}, {0, 0.5, 1}}, machine.unit(0).spec());
  }
}

TEST(AnnealingPath, OfOneLineInTwoHalvesIsTheSamePath) {
  const BoltzmannMachine target = randomized(make_rbm("bernoulli:6", "bernoulli:4", at::kDouble), 66);
  const BaseModel base = uniform_base(target);
  const BoltzmannMachine half =
      target.with_parameters(base.machine().parameters().clone().lerp_(target.parameters(), 0.5));
  const AnnealingPath one(base, {target}, {0, 0.25, 0.5, 0.75, 1}), two(base, {half, target}, {0, 0.5, 1, 1.5, 2});
  support::expect_close(ais(one, 50, {.seed = 67}).log_weights, ais(two, 50, {.seed = 67}).log_weights, 1e-10);
}

TEST(AnnealingPath, RefusesBadPlaces) {
  const BoltzmannMachine target = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 68);
  const auto complaint = [&](const std::vector<double>& places, std::size_t knots) {
    return support::message_of(
        [&] { const AnnealingPath path(uniform_base(target), std::vector<BoltzmannMachine>(knots, target), places); });
  };
  EXPECT_EQ(complaint({0, 1, 2}, 2), "");
  support::expect_mentions(complaint({0, 1}, 2), {"ends at 2"});
  support::expect_mentions(complaint({0, 0.5, 1.5, 2}, 2), {"knot 1"});
  support::expect_mentions(complaint({0, 1, 0.5, 2}, 2), {"increase"});
  support::expect_mentions(complaint({}, 0), {"target"});
}

TEST(BaseModel, RefusesWeightsItCannotSumOver) {
  const BoltzmannMachine large = randomized(make_rbm("bernoulli:40", "bernoulli:40"), 69);
  support::expect_mentions(support::message_of([&] { const BaseModel base(large, "big.npz"); }),
                           {"big.npz", "weights"});
}

TEST(BaseModel, KnowsItsMoments) {
  for (const double scale : {0.0, 0.7})
    for (const BoltzmannMachine& shape : small_machines()) {
      BoltzmannMachine machine = randomized(shape, 70);
      for (const EdgeInfo& edge : machine.topology().edges) machine.parameters()[edge.weights].mul_(scale);
      // By differences: E[g] is the gradient of log Z.
      const Moments moments = BaseModel(machine, "given").moments();
      const auto log_z_moved = [&](const std::string& name, double by) {
        Moments moved = machine.parameters().clone();
        moved[name].reshape({-1})[1] += by;
        return exact_log_z(machine.with_parameters(moved)).value;
      };
      for (const auto& [name, value] : moments.entries())
        EXPECT_NEAR(value.reshape({-1})[1].item<double>(), (log_z_moved(name, 1e-4) - log_z_moved(name, -1e-4)) / 2e-4,
                    1e-6)
            << name;
    }
}

TEST(BaseModel, UniformGivesEveryStateTheSameWeight) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "softmax:1x3", at::kDouble), 71);
  EXPECT_NEAR(uniform_base(machine).log_z(), 4 * std::log(2.0) + std::log(3.0), 1e-12);
}

TEST(AdaptiveSchedule, IsAScheduleThatSpendsItsStepsWhereTheDistributionChanges) {
  // Strong couplings of many units: a transition somewhere inside, quiet ends.
  BoltzmannMachine machine = make_rbm("bernoulli:30", "bernoulli:30", at::kDouble);
  machine.parameters()["visible_hidden.weights"].fill_(1.0);
  machine.parameters()["visible.bias"].fill_(-15.0);
  machine.parameters()["hidden.bias"].fill_(-15.0);
  const std::vector<double> schedule =
      adaptive_schedule(uniform_base(machine), machine, 1000, {.chains = 200, .steps = 200, .seed = 72});
  ASSERT_EQ(schedule.size(), 1001U);
  EXPECT_EQ(schedule.front(), 0);
  EXPECT_EQ(schedule.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(schedule));
  double shortest = 1, longest = 0;
  for (std::size_t k = 1; k < schedule.size(); ++k) {
    shortest = std::min(shortest, schedule[k] - schedule[k - 1]);
    longest = std::max(longest, schedule[k] - schedule[k - 1]);
  }
  EXPECT_LT(shortest, 0.6e-3) << "nowhere finer than even steps";
  EXPECT_GT(longest, 1.5e-3) << "nowhere coarser than even steps";
}

TEST(AdaptiveSchedule, OfAConstantPathIsEven) {
  BoltzmannMachine machine = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 73);
  machine.parameters()["visible_hidden.weights"].zero_();
  EXPECT_EQ(adaptive_schedule(BaseModel(machine, "itself"), machine, 7, {}), linear_schedule(7));
}

TEST(MomentAveraging, KnotsHaveTheMomentsAskedFor) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine target = randomized(make_rbm("bernoulli:5", "bernoulli:4", at::kDouble), 74, 1.0);
  const BaseModel base = uniform_base(target);
  struct Kept final : Journal {
    std::optional<NamedTensors> find(const std::string&) override { return tensors; }
    void keep(const std::string&, const NamedTensors& kept) override { tensors = kept; }
    bool due() override { return false; }
    std::optional<NamedTensors> tensors;
  } kept;
  const MomentAveragingOptions options{
      .knots = 3, .updates = 2'000, .particles = 1'000, .sweeps = 2'000, .seed = 75, .journal = &kept};
  const AnnealingPath path = moment_averaged_path(base, target, {}, 100, options);
  const Moments low = base.moments(), high = BaseModel(target, "target").moments();
  for (int r = 0; r < 3; ++r) {
    Moments parameters = target.parameters().zeros_like();
    for (const auto& [name, value] : parameters.entries())
      at::Tensor(value).copy_(find_tensor(*kept.tensors, format("{}/{}", r, name), "knots"));
    const Moments found = BaseModel(target.with_parameters(parameters), "knot").moments();
    // 1000 chains and a rate that falls to zero: a hundredth or two.
    for (const auto& [name, value] : found.entries())
      EXPECT_LT((value - low.clone().lerp_(high, 0.25 * (r + 1))[name]).abs().max().item<double>(), 0.03) << name;
  }
  // The same work is not done twice.
  const AnnealingPath again = moment_averaged_path(base, target, {}, 100, options);
  EXPECT_TRUE(at::equal(ais(path, 20, {}).log_weights, ais(again, 20, {}).log_weights));
}

TEST(MomentAveraging, IsUnbiasedHoweverRoughTheFit) {
  const support::ThreadCount one_thread(1);
  for (const BoltzmannMachine& machine : small_machines()) {
    const BoltzmannMachine target = randomized(machine.to(at::kDouble), 76, 0.5);
    expect_unbiased(moment_averaged_path(uniform_base(target), target, {}, 5,
                                         {.knots = 2, .updates = 20, .particles = 50, .sweeps = 20, .seed = 77}),
                    machine.unit(0).spec());
  }
}

TEST(MomentAveraging, RefusesFewerStepsThanLines) {
  const BoltzmannMachine target = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 78);
  support::expect_mentions(
      support::message_of([&] { static_cast<void>(moment_averaged_path(uniform_base(target), target, {}, 9, {})); }),
      {"9 steps", "9 knots"});
}

}  // namespace
}  // namespace harmonium
