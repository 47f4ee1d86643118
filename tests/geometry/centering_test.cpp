#include "harmonium/geometry/centering.h"

#include <gtest/gtest.h>

#include "harmonium/geometry/identity.h"
#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/inference/data_moments.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "tests/geometry/support.h"
#include "tests/support/brute_force.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::randomized;

// A metric that has seen exactly one set of model moments.
Centering centered_at(const BoltzmannMachine& machine, const Moments& means) {
  Centering metric(machine.topology(), machine.parameters());
  metric.observe({means, means, {}});
  metric.refit();
  return metric;
}

class CenteringOn : public testing::TestWithParam<support::MachineCase> {
 protected:
  const BoltzmannMachine machine = GetParam().make();
  const Moments means = exact_moments(machine);
  const Moments gradient = random_like(machine.parameters(), 52);
};

// ΔW = D − d_l μ_mᵀ − μ_l d_mᵀ and Δbias_l = d_l − Σ_edges ΔW μ_m, element by element.
TEST_P(CenteringOn, IsTheDirectionOfTheFormula) {
  const Centering metric = centered_at(machine, means);
  const Direction direction = metric.solve(gradient);
  Moments expected = gradient.clone();
  for (const EdgeInfo& edge : machine.topology().edges) {
    const std::string lower = machine.layers()[edge.lower].name + ".bias",
                      upper = machine.layers()[edge.upper].name + ".bias";
    for (std::int64_t i = 0; i < machine.unit(edge.lower).width(); ++i)
      for (std::int64_t j = 0; j < machine.unit(edge.upper).width(); ++j) {
        const double step =
            (gradient[edge.weights][i][j] - gradient[lower][i] * means[upper][j] - means[lower][i] * gradient[upper][j])
                .item<double>();
        expected[edge.weights][i][j] = step;
        expected[lower][i] -= step * means[upper][j];
        expected[upper][j] -= step * means[lower][i];
      }
  }
  expect_close(direction.total(), expected, 1e-12);
  // The unary part is the gradient of the layers' own statistics, so that separate rates can be applied.
  for (const auto& [name, value] : direction.unary.entries()) {
    EXPECT_FALSE(name.ends_with(".weights"));
    EXPECT_TRUE(at::equal(value, gradient[name])) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, CenteringOn, testing::ValuesIn(metric_machines()), support::case_name);

// Of a deep machine: with −E = Σ c_l·x_l + Σ (x_l − μ_l)ᵀ W (x_m − μ_m), the direction is the gradient in (c, W) of the
// exact log-likelihood, by differences, taken back to the biases b = c − Σ W μ.
class CenteringOfDeepMachines : public testing::TestWithParam<support::MachineCase> {};

TEST_P(CenteringOfDeepMachines, IsTheExactGradientOfTheCenteredParameters) {
  const BoltzmannMachine machine = GetParam().make();
  const support::BruteForce brute(machine);
  const support::Row v = brute.configurations[brute.configurations.size() / 2].front();
  const State data = machine.observe({support::to_tensor({v})});
  support::Row posterior = brute.probabilities;
  double total = 0;
  for (std::size_t n = 0; n < posterior.size(); ++n) {
    if (brute.configurations[n].front() != v) posterior[n] = 0;
    total += posterior[n];
  }
  for (double& p : posterior) p /= total;
  const Moments model = exact_moments(machine);
  const Moments gradient = support::expected_statistics(machine, brute.configurations, posterior) - model;
  const Moments direction = centered_at(machine, model).solve(gradient).total();

  const auto log_likelihood_at = [&](const Moments& theta) {
    const BoltzmannMachine moved = machine.with_parameters(theta);
    return log_marginal(moved, data, {.most_work = 1e9}).log_f.item<double>() - exact_log_z(moved).value;
  };
  constexpr double step = 1e-5;
  for (const EdgeInfo& edge : machine.topology().edges) {
    const std::string lower = machine.layers()[edge.lower].name + ".bias",
                      upper = machine.layers()[edge.upper].name + ".bias";
    for (std::int64_t i = 0; i < machine.unit(edge.lower).width(); ++i)
      for (std::int64_t j = 0; j < machine.unit(edge.upper).width(); ++j) {
        const auto at_offset = [&](double offset) {
          Moments theta = machine.parameters().clone();
          theta[edge.weights][i][j] += offset;
          theta[lower][i] -= offset * model[upper][j];
          theta[upper][j] -= offset * model[lower][i];
          return log_likelihood_at(theta);
        };
        EXPECT_NEAR(direction[edge.weights][i][j].item<double>(), (at_offset(step) - at_offset(-step)) / (2 * step),
                    1e-8);
      }
  }
  Moments back = gradient.clone();
  for (const EdgeInfo& edge : machine.topology().edges) {
    const at::Tensor& weights = direction[edge.weights];
    const std::string lower = machine.layers()[edge.lower].name + ".bias",
                      upper = machine.layers()[edge.upper].name + ".bias";
    back[lower] -= weights.mv(model[upper]);
    back[upper] -= weights.t().mv(model[lower]);
    back[edge.weights].copy_(weights);
  }
  expect_close(direction, back, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Chains, CenteringOfDeepMachines,
    testing::Values(
        support::MachineCase{
            "OfThreeLayers",
            [] {
              return randomized(make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, at::kDouble), 4);
            }},
        support::MachineCase{
            "OfFourLayers",
            [] {
              return randomized(make_chain({"bernoulli:2", "bernoulli:3", "bernoulli:2", "bernoulli:2"}, at::kDouble),
                                6);
            }}),
    support::case_name);

// A visible unit whose meaning is turned round, v → 1 − v, with parameters that leave the distribution as it was:
// a → −a, W → −W in its row, and b → b + W.
struct Flip {
  explicit Flip(std::int64_t unit) : unit_(unit) {}

  [[nodiscard]] BoltzmannMachine machine(const BoltzmannMachine& original) const {
    Moments p = original.parameters().clone();
    const at::Tensor row = p["visible_hidden.weights"][unit_].clone();
    p["hidden.bias"].add_(row);
    p["visible_hidden.weights"][unit_].copy_(-row);
    p["visible.bias"][unit_].copy_(-p["visible.bias"][unit_].clone());
    return original.with_parameters(p);
  }
  [[nodiscard]] at::Tensor visible(const at::Tensor& v) const {
    at::Tensor turned = v.clone();
    turned.select(1, unit_).copy_(1 - v.select(1, unit_));
    return turned;
  }

 private:
  std::int64_t unit_;
};

// d log p(x) / dt along the direction, for every state: Δ·(g(x) − E g).
at::Tensor change_of_log_probability(const BoltzmannMachine& machine, const State& states, const Moments& direction) {
  const BoltzmannMachine along = machine.with_parameters(direction);
  return along.log_potential(states) - dot(direction, exact_moments(machine));
}

TEST(Centering, ChangesTheDistributionTheSameWhateverAUnitsValuesMeanAndIdentityDoesNot) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 53);
  const State states = support::to_state(support::BruteForce(machine).configurations);
  const at::Tensor data = (uniform(Key(54), {20, 4}, at::kDouble) < 0.3).to(at::kDouble);
  const Flip flip(2);
  const BoltzmannMachine turned = flip.machine(machine);
  State turned_states = states;
  turned_states.layers[0] = flip.visible(states.layers[0]);
  // The same distribution to begin with, or the comparison means nothing.
  expect_close(at::log_softmax(turned.log_potential(turned_states), 0),
               at::log_softmax(machine.log_potential(states), 0), 1e-12);

  const auto changes = [&](const auto& direction_of) {
    const auto one = [&](const BoltzmannMachine& m, const at::Tensor& v, const State& all) {
      const Moments model = exact_moments(m);
      return change_of_log_probability(m, all, direction_of(m, model, data_moments(m, m.observe({v})) - model));
    };
    return std::pair(one(machine, data, states), one(turned, flip.visible(data), turned_states));
  };
  const auto [centered, centered_turned] =
      changes([](const BoltzmannMachine& m, const Moments& model, const Moments& gradient) {
        return centered_at(m, model).solve(gradient).total();
      });
  expect_close(centered_turned, centered, 1e-11);
  const auto [plain, plain_turned] = changes([](const BoltzmannMachine& m, const Moments&, const Moments& gradient) {
    return Identity(m.topology(), m.parameters()).solve(gradient).total();
  });
  EXPECT_GT((plain - plain_turned).abs().max().item<double>(), 0.01);
}

TEST(Centering, OffsetsAreTheRunningAverageOfTheModelsMeans) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 55);
  Centering metric(machine.topology(), machine.parameters(), {.time_scale = 4});
  const Moments first = random_like(machine.parameters(), 56), second = random_like(machine.parameters(), 57),
                unused = random_like(machine.parameters(), 58);
  metric.observe({unused, first, {}});
  const auto offset = [&](std::size_t layer) {
    return find_tensor(metric.state(), "offset." + std::to_string(layer), "test").clone();
  };
  EXPECT_TRUE(at::equal(offset(0), first["visible.bias"])) << "the first observation is taken whole";
  EXPECT_TRUE(at::equal(offset(1), first["hidden.bias"]));
  metric.observe({unused, second, {}});
  expect_close(offset(0), 0.75 * first["visible.bias"] + 0.25 * second["visible.bias"], 1e-14);
  metric.observe({unused, second, {}});
  expect_close(offset(1), 0.5625 * first["hidden.bias"] + 0.4375 * second["hidden.bias"], 1e-14);
}

// ΔW = Cov_data − Cov_model.
TEST(EnhancedGradient, MovesWeightsByTheDifferenceOfTwoCovariances) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 63);
  const at::Tensor v = (uniform(Key(64), {20, 4}, at::kDouble) < 0.3).to(at::kDouble);
  const Moments data = data_moments(machine, machine.observe({v})), model = exact_moments(machine);
  const auto metric = make_metric("enhanced", machine.topology(), machine.parameters());
  metric->observe({model, data, {}});  // forgotten: offsets are this update's alone
  metric->observe({data, model, {}});
  const auto covariance = [](const Moments& s) {
    return s["visible_hidden.weights"] - at::outer(s["visible.bias"], s["hidden.bias"]);
  };
  expect_close(metric->solve(data - model).pairwise["visible_hidden.weights"], covariance(data) - covariance(model),
               1e-13);
}

TEST(Centering, WithoutObservationsIsThePlainGradient) {
  const BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2", at::kDouble);
  const Moments gradient = random_like(machine.parameters(), 59);
  const Centering metric(machine.topology(), machine.parameters());
  EXPECT_TRUE(metric.state().empty());
  expect_close(metric.solve(gradient).total(), gradient, 1e-15);
}

TEST(Centering, ContinuesBitIdenticallyFromASavedState) {
  const BoltzmannMachine machine = make_classification_rbm("bernoulli:3", 3, "bernoulli:2", at::kDouble);
  const auto moments = [&](std::uint64_t i) { return random_like(machine.parameters(), 60 + i); };
  Centering whole(machine.topology(), machine.parameters()), resumed(machine.topology(), machine.parameters());
  for (std::uint64_t i = 0; i < 3; ++i) whole.observe({moments(i), moments(i), {}});
  NamedTensors saved;
  for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
  resumed.restore(saved);
  for (std::uint64_t i = 3; i < 6; ++i) {
    whole.observe({moments(i), moments(i), {}});
    resumed.observe({moments(i), moments(i), {}});
  }
  EXPECT_TRUE(support::identical(whole.solve(moments(9)).total(), resumed.solve(moments(9)).total()));
  saved.pop_back();
  support::expect_mentions(support::message_of([&] { resumed.restore(saved); }), {"offset.2", "centering"});
}

}  // namespace
}  // namespace harmonium
