// Learning a free-energy model by chains that move by HMC.
#include "harmonium/training/objectives/energy_contrast.h"

#include <gtest/gtest.h>

#include "harmonium/models/free_energy/deep_energy_model.h"
#include "harmonium/training/training.h"
#include "tests/support/free_energy.h"

namespace harmonium {
namespace {

// KL(teacher ‖ student) is found with the exact log Z of both and 200 000 exact draws of the teacher, so its own error
// is about 0.001 nat. The student starts elsewhere and sees 50 000 other draws.
class EnergyContrastMoves : public testing::TestWithParam<EnergyContrastOptions> {};

TEST_P(EnergyContrastMoves, LearnATeacherOfItsFamily) {
  const support::KnownMcrbm teacher;
  const at::Tensor rows = teacher.model.exact_draws(teacher.theta, Key(1), 50'000);
  const auto student = std::make_shared<const CovarianceModel>(teacher.model.structure());
  auto objective = std::make_unique<EnergyContrast>(student, student->initial_parameters(Key(2)), GetParam(), Key(3));
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  Training training(std::move(objective), std::move(optimizer),
                    BatchStream({.name = "draws", .values = rows.to(at::kFloat)}, {.batch = 200}, Key(4)),
                    {.rate_bias = 0.02, .rate_weights = 0.02, .schedule = Schedule::linear},
                    {.updates = 2000, .averaging = 100, .seed = 5});
  const at::Tensor fresh = teacher.model.exact_draws(teacher.theta, Key(6), 200'000);
  const double entropy =
      teacher.model.exact_log_z(teacher.theta) - teacher.model.log_f(fresh, teacher.theta).mean().item<double>();
  const auto divergence = [&] {
    const Moments theta = training.averaged().to(at::kDouble);
    return student->exact_log_z(theta) - student->log_f(fresh, theta).mean().item<double>() - entropy;
  };
  const double before = divergence();
  while (!training.finished()) training.step();
  EXPECT_GT(before, 0.1);
  EXPECT_LT(divergence(), 0.02);
  const std::map<std::string, double> measured = training.take_measurements();
  EXPECT_EQ(measured.contains("hmc_acceptance"), !GetParam().gibbs);
  if (!GetParam().gibbs) {
    EXPECT_GT(measured.at("hmc_acceptance"), 0.8);
    EXPECT_EQ(measured.at("hmc_divergences"), 0);
  }
  EXPECT_NEAR(measured.at("chain_scale"), 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, EnergyContrastMoves,
                         testing::Values(EnergyContrastOptions{.particles = 200, .leapfrog = 5},
                                         EnergyContrastOptions{.particles = 200, .gibbs = true},
                                         EnergyContrastOptions{.particles = 200, .leapfrog = 5, .fast_rate = 0.01}),
                         [](const auto& one) {
                           return std::string(one.param.gibbs           ? "ByGibbs"
                                              : one.param.fast_rate > 0 ? "ByHmcWithFastWeights"
                                                                        : "ByHmc");
                         });

// In the plane everything is known by quadrature: draws to learn from (points of the grid with noise of a cell) and the
// divergence.
struct Teacher {
  std::string name;
  std::shared_ptr<const FreeEnergyModel> model;
  Moments theta;
  friend void PrintTo(const Teacher& one, std::ostream* out) { *out << one.name; }
};

std::vector<Teacher> teachers() {
  std::vector<Teacher> all;
  for (const support::CovarianceCase& each : support::covariance_cases(2)) {
    const auto model = std::make_shared<const CovarianceModel>(each.structure);
    Moments theta = support::random_parameters(*model, 8);
    // Within the grid: light tails, and filters of pot that hold every direction.
    if (each.structure.units == CovarianceUnits::gammas) theta["covariance.gamma"].add_(3);
    if (!each.structure.contained) theta["filters.weights"].diagonal().add_(3);
    all.push_back({each.name, model, std::move(theta)});
  }
  const auto deep = std::make_shared<const DeepEnergyModel>(DeepEnergyStructure{.inputs = 2, .layers = {8, 6}});
  Moments theta = deep->initial_parameters(Key(8), at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : theta.entries()) {
    at::Tensor target = value;
    if (name != "visible.log_precision") target.copy_(0.6 * normal(Key(8).fold_in(i++), value.sizes(), at::kDouble));
  }
  all.push_back({"deep_energy", deep, std::move(theta)});
  return all;
}

class EveryFreeEnergyFamily : public testing::TestWithParam<Teacher> {};

TEST_P(EveryFreeEnergyFamily, LearnsATeacherOfItsOwn) {
  constexpr std::int64_t points = 701, n = 50'000;
  const double cell = 28.0 / (points - 1);
  const at::Tensor axis = at::linspace(-14, 14, points, at::kDouble);
  const at::Tensor grid = at::stack({axis.repeat_interleave(points), axis.repeat({points})}, 1);
  const auto& [name, model, teacher] = GetParam();
  const at::Tensor log_p = at::log_softmax(model->log_f(grid, teacher), 0);
  const at::Tensor edge = grid.abs().amax(1).ge(13.9);
  ASSERT_LT(log_p.exp().masked_select(edge).sum().item<double>(), 1e-6) << "the grid cuts the teacher off";
  const at::Tensor chosen =
      at::searchsorted(log_p.exp().cumsum(0), uniform(Key(1), {n}, at::kDouble)).clamp_max(points * points - 1);
  const at::Tensor rows = grid.index_select(0, chosen) + cell * (uniform(Key(2), {n, 2}, at::kDouble) - 0.5);
  auto objective = std::make_unique<EnergyContrast>(model, model->initial_parameters(Key(3)),
                                                    EnergyContrastOptions{.particles = 200, .leapfrog = 5}, Key(4));
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  Training training(std::move(objective), std::move(optimizer),
                    BatchStream({.name = "draws", .values = rows.to(at::kFloat)}, {.batch = 200}, Key(5)),
                    {.rate_bias = 0.02, .rate_weights = 0.02, .schedule = Schedule::linear},
                    {.updates = 3000, .averaging = 100, .seed = 6});
  const auto divergence = [&] {
    const Moments theta = training.averaged().to(at::kDouble);
    return (log_p.exp() * (log_p - at::log_softmax(model->log_f(grid, theta), 0))).sum().item<double>();
  };
  const double before = divergence();
  while (!training.finished()) training.step();
  EXPECT_GT(before, 0.05);
  EXPECT_LT(divergence(), 0.02);
}

INSTANTIATE_TEST_SUITE_P(All, EveryFreeEnergyFamily, testing::ValuesIn(teachers()),
                         [](const auto& one) { return one.param.name; });

// The overlay's recursion, written out again beside the objective's own.
TEST(EnergyContrast, MovesChainsUnderFastWeightsThatAreForgotten) {
  const support::KnownMcrbm teacher;
  const auto model = std::make_shared<const CovarianceModel>(teacher.model.structure());
  const EnergyContrastOptions options{.particles = 50, .gibbs = true, .fast_rate = 0.1, .fast_decay = 0.9};
  EnergyContrast objective(model, teacher.theta.clone(), options, Key(1));
  const std::vector<at::Tensor> batch = {teacher.model.exact_draws(teacher.theta, Key(2), 50)};
  at::Tensor chains = objective.chains().clone();
  Moments overlay = teacher.theta.zeros_like();
  for (std::int64_t update = 0; update < 5; ++update) {
    const Key key = Key(3).fold_in(static_cast<std::uint64_t>(update));
    const Moments gradient = objective.gradient(batch, {.update = update, .key = key});
    Moments fast = teacher.theta + overlay;
    model->constrain_(fast);
    model->gibbs_(chains, fast, key);
    Moments expected = model->moments(batch.front(), teacher.theta);
    expected.add_(model->moments(chains, fast), -1);
    EXPECT_LT(norm(gradient - expected), 1e-12);
    EXPECT_TRUE(at::equal(objective.chains(), chains));
    overlay.mul_(0.9);
    overlay.add_(expected, 0.1);
  }
  EXPECT_GT(norm(overlay), 1e-3);
}

}  // namespace
}  // namespace harmonium
