// Annealing with HMC against log Z that is known exactly.
#include "harmonium/likelihood/free_energy_annealing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/bennett.h"
#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/free_energy_judging.h"
#include "tests/support/free_energy.h"

namespace harmonium {
namespace {

class Silent final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

double standard_error(const at::Tensor& log_weights) {
  const at::Tensor w = (log_weights - log_mean_exp(log_weights)).exp();
  return w.std().item<double>() / std::sqrt(static_cast<double>(w.size(0)));
}

// 5.046 ± 0.005 was found elsewhere with as many chains and steps.
TEST(FreeEnergyAnnealing, FindsTheLogZThatIsKnown) {
  const support::KnownMcrbm known;
  const FreeEnergyPath path(known.model, known.theta, 1);
  const AisResult up = ais(path, 2000, 100, {.seed = 2});
  EXPECT_EQ(up.log_z.kind, EstimateKind::unbiased_estimate);
  // Four standard errors either way: false alarms 6·10⁻⁵.
  EXPECT_NEAR(up.log_z.value, 5.051593, 4 * standard_error(up.log_weights));
  EXPECT_GT(*up.log_z.effective_samples, 1700);
  const at::Tensor samples = known.model.exact_draws(known.theta, Key(3), 2000);
  const AisResult down = reverse_ais(path, samples, 100, {.seed = 2});
  EXPECT_EQ(down.log_z.kind, EstimateKind::upper_bound);
  EXPECT_NEAR(down.log_z.value, 5.051593, 4 * standard_error(-down.log_weights));
  EXPECT_GT(average_bound(down, 1).value, down.log_z.value) << "the mean of logarithms is the looser bound";
  EXPECT_NEAR(bennett(up, down, 1).value, 5.051593, 0.02);
}

TEST(FreeEnergyAnnealing, IsUnbiasedForZOverManyModels) {
  double sum = 0, squares = 0;
  int models = 0, above = 0;
  for (const auto& each : support::covariance_cases(2)) {
    const CovarianceModel model(each.structure);
    if (!model.exact_work()) continue;
    for (std::uint64_t seed = 0; seed < 8; ++seed, ++models) {
      const Moments theta = support::random_parameters(model, 20 + seed);
      const double log_z = model.exact_log_z(theta);
      const FreeEnergyPath path(model, theta, seed);
      const AisResult up = ais(path, 40, 30, {.seed = seed});
      const double ratio = std::exp(up.log_z.value - log_z);
      sum += ratio;
      squares += ratio * ratio;
      const at::Tensor samples = model.exact_draws(theta, Key(seed), 40);
      if (samples.defined()) above += average_bound(reverse_ais(path, samples, 30, {.seed = seed}), 0).value > log_z;
    }
  }
  const double mean = sum / models, error = std::sqrt((squares / models - mean * mean) / models);
  // Four standard errors: false alarms 6·10⁻⁵.
  EXPECT_NEAR(mean, 1, 4 * error) << "over " << models << " models";
  EXPECT_GT(above, 13) << "a bound from above in most of 24 models";
}

// E[w] = p_ann(v) is a density, however coarse the path: its sum over a grid of the plane is one in the mean.
TEST(FreeEnergyAnnealing, RaiseWeightsAreADensity) {
  constexpr std::int64_t points = 141, runs = 25;
  constexpr double reach = 7, cell = 2 * reach / (points - 1);
  const at::Tensor place = at::linspace(-reach, reach, points, at::kDouble);
  const at::Tensor grid = at::stack(at::meshgrid({place, place}, "ij"), 2).view({-1, 2});
  const support::KnownMcrbm known;
  const FreeEnergyPath path(known.model, known.theta, 1);
  double sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const at::Tensor log_p = raise(path, grid, 1, 3, {.seed = seed}).log_p;
    const double mass = at::exp(log_p).sum().item<double>() * cell * cell;
    sum += mass;
    squares += mass * mass;
  }
  const double mean = sum / runs, error = std::sqrt((squares / runs - mean * mean) / (runs - 1));
  // Five standard errors of 25 runs: false alarms 4·10⁻⁵.
  EXPECT_NEAR(mean, 1, 5 * error);
  EXPECT_LT(error, 0.02) << "else nothing is tested";
}

TEST(FreeEnergyAnnealing, RaiseRisesToTheLogDensityOfRows) {
  const support::KnownMcrbm known;
  const FreeEnergyPath path(known.model, known.theta, 1);
  const at::Tensor rows = known.model.exact_draws(known.theta, Key(4), 400);
  const double exact = known.model.log_f(rows, known.theta, 1).mean().item<double>() - 5.051593;
  const RaiseResult fine = raise(path, rows, 10, 200, {.seed = 5}), coarse = raise(path, rows, 1, 1, {.seed = 5});
  EXPECT_EQ(fine.log_likelihood.kind, EstimateKind::lower_bound);
  EXPECT_EQ(fine.upper_log_z.kind, EstimateKind::upper_bound);
  EXPECT_EQ(fine.log_likelihood.chains, 10);
  EXPECT_EQ(fine.log_likelihood.betas, 200);
  // Weights of 200 steps deviate by a tenth; the mean of 4000 of them by a few thousandths.
  EXPECT_NEAR(fine.log_likelihood.value, exact, 0.03);
  EXPECT_LT(coarse.log_likelihood.value, exact - 0.1);
  EXPECT_GT(coarse.upper_log_z.value, 5.051593 + 0.1);
  EXPECT_THROW((void)raise(path, rows, 0, 10, {}), Error);
}

TEST(FreeEnergyAnnealing, GoesOnFromItsJournal) {
  class Stopped final : public Journal {
   public:
    std::optional<NamedTensors> kept;
    [[nodiscard]] std::optional<NamedTensors> find(const std::string&) override { return kept; }
    void keep(const std::string&, const NamedTensors& tensors) override { kept = tensors; }
    [[nodiscard]] bool due() override { return false; }
  } journal;
  const support::KnownMcrbm known;
  const FreeEnergyPath path(known.model, known.theta, 1);
  const at::Tensor whole = ais(path, 10, 20, {.seed = 2}).log_weights;
  const Progress stop = [](std::int64_t done, std::int64_t) {
    if (done == 7) throw RunFailure("stopped");
  };
  EXPECT_THROW((void)ais(path, 10, 20, {.seed = 2, .progress = stop, .journal = &journal}), RunFailure);
  ASSERT_TRUE(journal.kept);
  EXPECT_TRUE(at::equal(ais(path, 10, 20, {.seed = 2, .journal = &journal}).log_weights, whole));
}

TEST(FreeEnergyJudging, TakesTheExactWayWhereThereIsOneAndASandwichElsewhere) {
  Silent watcher;
  const support::KnownMcrbm known;
  const Findings exact = find_log_z(known.model, known.theta, {}, {}, watcher, nullptr);
  EXPECT_EQ(exact.log_z.kind, EstimateKind::exact);
  EXPECT_NEAR(exact.log_z.value, 5.051593, 5e-7);
  EXPECT_EQ(exact.log_z.method, "exact (2^3 hidden states)");
  EstimationOptions options;
  options.method = "sandwich";
  options.betas = 200;
  const Findings both = find_log_z(known.model, known.theta, {}, options, watcher, nullptr);
  EXPECT_NEAR(both.log_z.value, 5.0516, 0.1);
  ASSERT_TRUE(both.reverse && both.bennett);
  EXPECT_NEAR(both.reverse->value, 5.0516, 0.1);

  // More filters than inputs: no closed form, and tails heavier than the base's.
  const CovarianceModel wide({.inputs = 2, .filters = 4, .units = CovarianceUnits::gammas, .contained = false});
  const Moments theta = support::random_parameters(wide, 5);
  // u = r (cos, sin): over all of the plane by polar coordinates, r = tan t.
  constexpr int points = 2000;
  const at::Tensor t = (at::arange(points, at::kDouble) + 0.5) * (M_PI / 2 / points), r = t.tan();
  const at::Tensor angle = at::arange(points, at::kDouble) * (2 * M_PI / points);
  const at::Tensor v = at::stack({r.unsqueeze(1) * angle.cos(), r.unsqueeze(1) * angle.sin()}, 2).view({-1, 2});
  const at::Tensor volume = (r / t.cos().square()).log().unsqueeze(1).expand({points, points}).reshape({-1});
  const double expected =
      at::logsumexp(wide.log_f(v, theta) + volume, 0).item<double>() + std::log(M_PI / 2 / points * 2 * M_PI / points);
  options.method = "auto";
  options.gap = 0.2;
  EXPECT_EQ(method_for(options, wide), "auto");
  const Findings grown = find_log_z(wide, theta, {}, options, watcher, nullptr);
  EXPECT_NEAR(grown.log_z.value, expected, 0.2);
  EXPECT_NEAR(grown.reverse->value, expected, 0.3);
  options.method = "exact";
  EXPECT_THROW((void)find_log_z(wide, theta, {}, options, watcher, nullptr), Error);
  // By rows of data, which need not be the model's own.
  options.method = "raise";
  options.betas = 400;
  EXPECT_THROW((void)find_log_z(wide, theta, {}, options, watcher, nullptr), Error) << "there are no rows";
  const at::Tensor rows = wide.base_draws(theta, Key(6), 200);
  const Findings bound = find_log_z(wide, theta, rows, options, watcher, nullptr);
  EXPECT_EQ(bound.log_z.method, "raise");
  EXPECT_EQ(bound.raise_rows, 100);
  EXPECT_NEAR(bound.log_z.value, expected, 0.3);
  options.method = "sandwich";
  const Findings three = find_log_z(wide, theta, rows, options, watcher, nullptr);
  ASSERT_TRUE(three.raise && three.reverse);
  EXPECT_NEAR(three.raise->value, bound.log_z.value, 1e-12) << "the same rows and the same chains";
}

}  // namespace
}  // namespace harmonium
