// The statistics of one product beside those that are put together block by block.
#include "harmonium/training/rbm_statistics.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(RbmStatistics, AreThoseOfParticlesWithVisibleUnitsByExpectation) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:9", "bernoulli:5", at::kDouble), 3);
  State particles = machine.independent_sample(Key(4), 40);
  const ParticleSource source{.drawn = [&] { return machine.particles(particles); },
                              .expected = [&] { return machine.particles(particles, {0}); }};
  const ParticleStatistics plain(machine.topology(), machine.parameters(), source);
  // Visible means, hidden draws, a one, and columns that fill up.
  const at::Tensor means = machine.unit(0).mean(machine.field(0, particles), machine.layer_parameters(0));
  const at::Tensor units =
      at::cat({means, particles.layers[1], at::ones({40, 1}, at::kDouble), at::zeros({40, 3}, at::kDouble)}, 1);
  const RbmStatistics one(machine, units, source);
  EXPECT_LT((one.unary_mean() - plain.unary_mean()).abs().max().item<double>(), 1e-14);
  EXPECT_LT((one.unary_second_moment() - plain.unary_second_moment()).abs().max().item<double>(), 1e-14);
}

}  // namespace
}  // namespace harmonium
