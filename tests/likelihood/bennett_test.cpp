// Bennett's acceptance ratio against enumeration, and against both ways of annealing by themselves.
#include "harmonium/likelihood/bennett.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Gaussian work obeys the law exactly: forward a ~ N(c − s²/2, s²) has E[e^a] = e^c, and reverse b ~ N(c + s²/2, s²).
// 5.5 standard errors over 400 repetitions (false-alarm rate 4e-8), and the bias must be far below that of AIS alone.
TEST(Bennett, FindsTheConstantOfGaussianWork) {
  constexpr double truth = 12.5, spread = 2;
  constexpr int repetitions = 400;
  std::vector<double> errors, forward_errors;
  for (std::uint64_t i = 0; i < repetitions; ++i) {
    const Key key = Key(70).fold_in(i);
    const at::Tensor up = truth - spread * spread / 2 + spread * normal(key.fold_in(0), {50}, at::kDouble),
                     down = truth + spread * spread / 2 + spread * normal(key.fold_in(1), {80}, at::kDouble);
    errors.push_back(bennett_log_z(up, down) - truth);
    forward_errors.push_back(at::logsumexp(up, 0).item<double>() - std::log(50.0) - truth);
  }
  const at::Tensor all = at::tensor(errors, at::kDouble), alone = at::tensor(forward_errors, at::kDouble);
  EXPECT_LT(std::abs(all.mean().item<double>()), 5.5 * all.std().item<double>() / std::sqrt(400.0));
  EXPECT_LT(all.std().item<double>(), 0.6 * alone.std().item<double>());
  EXPECT_LT(std::abs(all.mean().item<double>()), 0.5 * std::abs(alone.mean().item<double>()));
}

TEST(Bennett, SolvesItsEquationAndMovesWithTheWeights) {
  const at::Tensor up = normal(Key(71), {30}, at::kDouble), down = 1 + normal(Key(72), {20}, at::kDouble);
  const double root = bennett_log_z(up, down), shift = std::log(30.0 / 20.0);
  EXPECT_NEAR(at::sigmoid(up - root - shift).sum().item<double>(),
              at::sigmoid(root + shift - down).sum().item<double>(), 1e-9);
  EXPECT_NEAR(bennett_log_z(up + 1000, down + 1000), root + 1000, 1e-9);
  const at::Tensor same = at::full({3}, -7.0, at::kDouble);
  EXPECT_NEAR(bennett_log_z(same, same), -7, 1e-9);
  EXPECT_THROW((void)bennett_log_z(at::zeros({0}, at::kDouble), same), Error);
}

struct Looked {
  double exact = 0, both = 0, up = 0, down = 0;
  bool covered = false;
};

// 200 machines, RBMs and general ones in turn, annealed in twelve steps only.
const std::vector<Looked>& looked() {
  static const std::vector<Looked> result = [] {
    const support::ThreadCount one_thread(1);
    std::vector<Looked> all;
    for (std::uint64_t i = 0; i < 200; ++i) {
      const BoltzmannMachine machine =
          support::randomized(i % 2 == 0 ? make_rbm("bernoulli:6", "bernoulli:5", at::kDouble)
                                         : make_boltzmann("bernoulli:6", "bernoulli:4", {}, at::kDouble),
                              9000 + i, 0.3 + 0.7 * static_cast<double>(i) / 199);
      const AnnealingPath path(uniform_base(machine), {machine}, linear_schedule(12));
      const AnnealingOptions options{.chains_at_once = 100, .seed = 9500 + i};
      const AisResult up = ais(path, 100, options),
                      down = reverse_ais(path, exact_sample(machine, Key(9700 + i), 100), options);
      const double exact = exact_log_z(machine).value;
      const Estimate found = bennett(up, down, i);
      EXPECT_LE(found.low, found.value);
      EXPECT_GE(found.high, found.value);
      all.push_back({exact, found.value - exact, up.log_z.value - exact, down.log_z.value - exact,
                     found.low <= exact && exact <= found.high});
    }
    return all;
  }();
  return result;
}

// If each interval covers with probability 0.95, fewer than 180 or more than 198 of 200 do so with probability 1e-3.
TEST(Bennett, HasIntervalsThatCoverAsOftenAsTheySay) {
  int covered = 0;
  for (const Looked& one : looked()) covered += one.covered ? 1 : 0;
  EXPECT_GE(covered, 180);
  EXPECT_LE(covered, 198);
}

TEST(Bennett, ErrsLessThanEitherWayAlone) {
  double both = 0, up = 0, down = 0;
  for (const Looked& one : looked()) {
    both += one.both * one.both;
    up += one.up * one.up;
    down += one.down * one.down;
  }
  EXPECT_LT(both, 0.7 * up);
  EXPECT_LT(both, 0.7 * down);
}

}  // namespace
}  // namespace harmonium
