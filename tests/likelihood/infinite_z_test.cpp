// Machines whose Z is infinite are refused by everything that would judge or sample them; beside the border, where Z is
// finite, annealing agrees with the closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/judging.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/samplers/chains.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Weights scaled so that the strength of the coupling is `strength`; from 1 on Z is infinite.
BoltzmannMachine real_rbm(double strength) {
  BoltzmannMachine machine = support::randomized(make_rbm("gaussian:4", "gaussian:3", at::kDouble), 5, 0.2);
  at::Tensor(machine.parameters()["visible_hidden.weights"]).mul_(strength / coupling_strength(machine));
  return machine;
}

// log Z = ½ (n log 2π − log det P + bᵀ P⁻¹ b), all units together a Gaussian of precision P.
double closed_log_z(const BoltzmannMachine& machine) {
  const Moments& theta = machine.parameters();
  const at::Tensor w = theta["visible_hidden.weights"];
  const at::Tensor precision = at::cat({at::cat({at::diag(theta["visible.precision"]), -w}, 1),
                                        at::cat({-w.t(), at::diag(theta["hidden.precision"])}, 1)},
                                       0);
  const at::Tensor bias = at::cat({theta["visible.bias"], theta["hidden.bias"]});
  const double quadratic = bias.dot(at::linalg_solve(precision, bias)).item<double>();
  return (static_cast<double>(bias.size(0)) * std::log(2 * std::numbers::pi) - at::logdet(precision).item<double>() +
          quadratic) /
         2;
}

class SilentWatcher final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

template <class Work>
void expect_infinite(const char* what, Work&& work) {
  try {
    work();
    ADD_FAILURE() << what << " took a machine whose Z is infinite";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("Z is infinite"), std::string::npos) << what << ": " << error.what();
  }
}

TEST(InfiniteZ, IsRefusedByEverythingThatJudgesOrSamples) {
  for (const double strength : {1.0, 1.03, 2.5}) {
    const BoltzmannMachine machine = real_rbm(strength * (1 + 1e-12));
    const Moments base = uniform_base(machine).machine().parameters();
    const State rows = machine.observe({at::zeros({2, 4}, at::kDouble)});
    SilentWatcher watcher;
    for (const char* method : {"auto", "ais", "sandwich", "raise", "ma-ais", "exact"})
      expect_infinite(method, [&] {
        (void)find_log_z({.machine = machine, .data_moments = {}}, &rows, {.method = method, .betas = 10}, watcher,
                         nullptr);
      });
    expect_infinite("ais()", [&] { (void)ais(machine, base, {.chains = 2, .betas = 3}); });
    expect_infinite("a path", [&] { (void)AnnealingPath(uniform_base(machine), {machine}, linear_schedule(3)); });
    for (const char* sampler : {"gibbs", "parallel_tempering"})
      expect_infinite(sampler, [&] {
        (void)make_chains({.name = sampler},
                          {.machine = machine, .data_moments = {}, .start = machine.independent_sample(Key(1), 2)});
      });
  }
}

// Half the width of a 95 % interval is two standard errors: ten of them are passed by chance less than once in 10^20
// times were the weights Gaussian; they are not quite, and effective samples are asked for as well.
TEST(InfiniteZ, BesideItsBorderAnnealingFindsTheClosedForm) {
  for (const double strength : {0.5, 0.9, 0.97}) {
    const BoltzmannMachine machine = real_rbm(strength);
    const Estimate found =
        ais(machine, uniform_base(machine).machine().parameters(), {.chains = 1000, .betas = 500}).log_z;
    EXPECT_GT(*found.effective_samples, 100) << strength;
    EXPECT_NEAR(found.value, closed_log_z(machine), 5 * (found.high - found.low) / 2) << strength;
  }
}

}  // namespace
}  // namespace harmonium
