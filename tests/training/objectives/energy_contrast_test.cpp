// Learning a free-energy model by chains that move by HMC.
#include "harmonium/training/objectives/energy_contrast.h"

#include <gtest/gtest.h>

#include "harmonium/training/training.h"
#include "tests/support/free_energy.h"

namespace harmonium {
namespace {

// KL(teacher ‖ student) is found with the exact log Z of both and 200 000 exact draws of the teacher, so its own error
// is about 0.001 nat. The student starts elsewhere and sees 50 000 other draws.
TEST(EnergyContrast, LearnsATeacherOfItsFamily) {
  const support::KnownMcrbm teacher;
  const at::Tensor rows = teacher.model.exact_draws(teacher.theta, Key(1), 50'000);
  const auto student = std::make_shared<const CovarianceModel>(teacher.model.structure());
  auto objective = std::make_unique<EnergyContrast>(student, student->initial_parameters(Key(2)),
                                                    EnergyContrastOptions{.particles = 200, .leapfrog = 5}, Key(3));
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
  EXPECT_GT(measured.at("hmc_acceptance"), 0.8);
  EXPECT_EQ(measured.at("hmc_divergences"), 0);
  EXPECT_NEAR(measured.at("chain_scale"), 1, 0.1);
}

}  // namespace
}  // namespace harmonium
