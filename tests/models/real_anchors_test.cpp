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
BoltzmannMachine machine_of_two_sources() {
  BoltzmannMachine machine = make_rbm("gaussian:2", "bernoulli:4", at::kDouble);
  const at::Tensor precision = row_of({0.74241256, 0.73101419}).square().reciprocal();
  const at::Tensor weights =
      row_of({-2.13559806, -0.71220501, 0.64841691, 2.17880554, 0.75840129, -2.13979672, 2.09910978, -0.64721076})
          .view({2, 4});
  set(machine, "visible.precision", precision);
  set(machine, "visible_hidden.weights", weights * precision.unsqueeze(1));
  set(machine, "hidden.bias", row_of({-7.87792514, -7.60603139, -7.73935758, -7.722771}));
  return machine;
}

TEST(KnownMachines, AGaussianRbmOfFourUnitsHasThePublishedLogZ) {
  const BoltzmannMachine machine = machine_of_two_sources();
  const double log_z = exact_log_z(machine).value;
  EXPECT_NEAR(log_z, 1.40422867, 5e-8);
  const EnumerationPlan plan = plan_enumeration(machine, 25);
  at::Tensor p;
  for_each_state(machine, plan, [&](const State&, const at::Tensor& log_weight) { p = (log_weight - log_z).exp(); });
  const std::vector<std::pair<std::int64_t, double>> expected = {
      {0, 0.837341}, {1, 0.034048}, {2, 0.047869}, {4, 0.032952}, {8, 0.040683}};
  for (const auto& [state, probability] : expected) EXPECT_NEAR(p[state].item<double>(), probability, 6e-7) << state;
}

// Rows that the same machine should find likely: two Laplace sources of variance 1, turned by an angle. Mean
// log-likelihoods by quadrature (Simpson's rule along each half axis): of the truth, of independent sources ½ sech²,
// and of the machine at its best angle, a local maximum.
TEST(KnownMachines, AreAsLikelyOnTwoLaplaceSourcesAsQuadratureSays) {
  const std::int64_t intervals = 400;
  const double reach = 30, step = reach / static_cast<double>(intervals);  // of x = √2 |s|, whose density is e^{−x}
  at::Tensor simpson = at::full({intervals + 1}, step / 3, at::kDouble);
  simpson.slice(0, 1, intervals, 2).mul_(4);
  simpson.slice(0, 2, intervals, 2).mul_(2);
  const at::Tensor x = at::linspace(0, reach, intervals + 1, at::kDouble);
  const at::Tensor source = at::cat({x, -x}) / std::sqrt(2.0), share = 0.5 * (simpson * (-x).exp()).repeat({2});
  ASSERT_NEAR(share.sum().item<double>(), 1, 1e-6);
  const double truth = 2 * (share * (-std::log(std::sqrt(2.0)) - x.repeat({2}))).sum().item<double>();
  EXPECT_NEAR(truth, -2.69315, 6e-6);
  const at::Tensor sech = std::log(0.5) - 2 * (source.cosh().log());
  EXPECT_NEAR(2 * (share * sech).sum().item<double>(), -2.73924, 6e-6);
  const BoltzmannMachine machine = machine_of_two_sources();
  const std::int64_t n = source.size(0);
  const at::Tensor first = source.repeat_interleave(n), second = source.repeat({n}),
                   weight = share.repeat_interleave(n) * share.repeat({n});
  const auto turned_by = [&](double angle) {
    State rows;
    rows.layers = {at::stack({std::cos(angle) * first - std::sin(angle) * second,
                              std::sin(angle) * first + std::cos(angle) * second},
                             1),
                   {}};
    return (weight * machine.log_sum_out(rows, {1})).sum().item<double>() - exact_log_z(machine).value;
  };
  EXPECT_NEAR(turned_by(-0.3128), -2.73706, 6e-6);
  EXPECT_LT(turned_by(-0.3128 - 0.02), turned_by(-0.3128));
  EXPECT_LT(turned_by(-0.3128 + 0.02), turned_by(-0.3128));
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
