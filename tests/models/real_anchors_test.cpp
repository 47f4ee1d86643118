// Small real-valued machines whose numbers are known from elsewhere.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/likelihood/exact.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/models/enumeration.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

at::Tensor row_of(std::vector<double> values) { return at::tensor(values, at::kDouble); }

void set(BoltzmannMachine& machine, const std::string& name, const at::Tensor& value) {
  at::Tensor(machine.parameters()[name]).copy_(value);
}

// The machine of a published two-dimensional example (four units that found two independent sources), in covariance
// form there: λ = 1/σ², W = W_σ/σ². They print log Z = 1.40422867.
TEST(KnownMachines, AGaussianRbmOfFourUnitsHasThePublishedLogZ) {
  BoltzmannMachine machine = make_rbm("gaussian:2", "bernoulli:4", at::kDouble);
  const at::Tensor precision = row_of({0.74241256, 0.73101419}).square().reciprocal();
  const at::Tensor weights =
      row_of({-2.13559806, -0.71220501, 0.64841691, 2.17880554, 0.75840129, -2.13979672, 2.09910978, -0.64721076})
          .view({2, 4});
  set(machine, "visible.precision", precision);
  set(machine, "visible_hidden.weights", weights * precision.unsqueeze(1));
  set(machine, "hidden.bias", row_of({-7.87792514, -7.60603139, -7.73935758, -7.722771}));
  const double log_z = exact_log_z(machine).value;
  EXPECT_NEAR(log_z, 1.40422867, 5e-8);
  const EnumerationPlan plan = plan_enumeration(machine, 25);
  at::Tensor p;
  for_each_state(machine, plan, [&](const State&, const at::Tensor& log_weight) { p = (log_weight - log_z).exp(); });
  const std::vector<std::pair<std::int64_t, double>> expected = {
      {0, 0.837341}, {1, 0.034048}, {2, 0.047869}, {4, 0.032952}, {8, 0.040683}};
  for (const auto& [state, probability] : expected) EXPECT_NEAR(p[state].item<double>(), probability, 6e-7) << state;
}

// A spike-and-slab RBM written as the papers do: slabs N(μ, 1/α), b the log-odds of the spike at v = 0. log Z by
// quadrature over both visible units; the papers' log f has no slab integral, which b takes in.
TEST(KnownMachines, ASpikeAndSlabRbmHasItsLogZ) {
  BoltzmannMachine machine = make_rbm("gaussian:2", "spike_slab:2", at::kDouble);
  const at::Tensor alpha = row_of({1, 2}), mu = row_of({0.5, -0.3}), b = row_of({-1, -0.5});
  set(machine, "visible.bias", row_of({0.1, -0.2}));
  set(machine, "visible.precision", row_of({1, 1.5}));
  set(machine, "visible_hidden.weights", row_of({0.6, 0.3, -0.4, 0.7}).view({2, 2}));
  set(machine, "hidden.bias", alpha * mu);
  set(machine, "hidden.precision", alpha);
  set(machine, "hidden.spike", b - 0.5 * (2 * M_PI / alpha).log() - 0.5 * alpha * mu * mu);
  EXPECT_NEAR(coupling_strength(machine) * coupling_strength(machine), 0.466753, 5e-7);
  // The trapezoidal rule over ±14 in steps of 0.07 is exact to rounding for such densities.
  const std::int64_t points = 401;
  const at::Tensor axis = at::linspace(-14, 14, points, at::kDouble);
  State state;
  state.layers = {at::stack({axis.repeat_interleave(points), axis.repeat({points})}, 1), {}};
  const double log_z =
      at::logsumexp(machine.log_sum_out(state, {1}), 0).item<double>() + 2 * std::log(28.0 / (points - 1));
  EXPECT_NEAR(log_z, 2.684063, 5e-7);
}

}  // namespace
}  // namespace harmonium
