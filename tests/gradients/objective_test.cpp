// Discriminative and hybrid objectives against enumeration: plain sums over hidden states, and differences of them.
#include "harmonium/gradients/objective.h"

#include <gtest/gtest.h>

#include "harmonium/gradients/discriminative.h"
#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/gradients/fpcd.h"
#include "harmonium/gradients/hybrid.h"
#include "harmonium/inference/data_moments.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::Configuration;
using support::PlainMachine;
using support::Row;

support::MachineCase classifier(const std::string& name, const std::string& visible, const std::string& hidden) {
  return {name, [=] { return support::randomized(make_classification_rbm(visible, 3, hidden, at::kDouble), 21); }};
}

std::vector<support::MachineCase> classifiers() {
  return {classifier("Bernoulli", "bernoulli:3", "bernoulli:3"),
          classifier("GaussianVisible", "gaussian:2", "bernoulli:3"),
          classifier("SoftmaxVisible", "softmax:2x3", "bernoulli:2"),
          classifier("SoftmaxHidden", "bernoulli:3", "softmax:2x3"),
          classifier("GaussianHidden", "bernoulli:3", "gaussian:2"),
          // The label named after the hidden layers, one of which it is not joined to.
          {"LabelAboveAndAHiddenLayerApart", [] {
             return support::randomized(
                 BoltzmannMachine({{"visible", make_unit("bernoulli:3"), true},
                                   {"hidden", make_unit("bernoulli:2")},
                                   {"apart", make_unit("bernoulli:2")},
                                   {"label", make_unit("softmax:1x3"), true}},
                                  {{"visible", "hidden"}, {"hidden", "label"}, {"visible", "apart"}}, at::kDouble),
                 22);
           }}};
}

State labelled_rows(const BoltzmannMachine& machine, std::int64_t rows) {
  std::vector<at::Tensor> values;
  for (const std::size_t layer : machine.observed()) {
    const at::Tensor field = at::zeros({rows, machine.unit(layer).width()}, machine.scalar_type());
    values.push_back(machine.unit(layer).sample(Key(3).fold_in(layer), field, machine.layer_parameters(layer)));
  }
  return machine.observe(values);
}

// Mean over rows of log p(y | v), every hidden state of every class visited.
double label_log_probability(const BoltzmannMachine& machine, const State& data) {
  const PlainMachine plain(machine);
  const std::size_t label = machine.layer_index("label");
  double total = 0;
  for (std::int64_t row = 0; row < data.rows(); ++row) {
    Configuration x(machine.layers().size());
    for (const std::size_t layer : machine.observed()) x[layer] = support::numbers(data.layers[layer][row]);
    Row scores;
    for (const Row& other : support::points_of("softmax:1x3").rows) {
      Configuration changed = x;
      changed[label] = other;
      scores.push_back(plain.log_sum(changed, machine.hidden()));
    }
    total += plain.log_sum(x, machine.hidden()) - support::log_sum_exp(scores);
  }
  return total / static_cast<double>(data.rows());
}

class ObjectiveOf : public testing::TestWithParam<support::MachineCase> {
 protected:
  const BoltzmannMachine machine = GetParam().make();
  const State data = labelled_rows(machine, 7);
};

TEST_P(ObjectiveOf, DiscriminativeHasTheSlopeOfTheLabelsLogProbability) {
  Discriminative phase;
  const at::Tensor gradient = (data_moments(machine, data) - phase.model_moments(machine, data, Key(1))).flatten();
  const at::Tensor theta = machine.parameters().flatten();
  constexpr double h = 1e-5;  // truncation about 1e-10, rounding about 1e-9
  for (std::int64_t i = 0; i < theta.numel(); ++i) {
    const auto moved = [&](double step) {
      at::Tensor there = theta.clone();
      there[i] += step;
      return label_log_probability(machine.with_parameters(machine.parameters().unflatten(there)), data);
    };
    EXPECT_NEAR(gradient[i].item<double>(), (moved(h) - moved(-h)) / (2 * h), 2e-8) << "parameter " << i;
  }
  EXPECT_FALSE(phase.has_particles());
}

TEST_P(ObjectiveOf, DiscriminativeTeachesNothingAboutTheDataThemselves) {
  const Moments gradient = data_moments(machine, data) - Discriminative().model_moments(machine, data, Key(1));
  for (const std::string& name : machine.topology().layers[0].parameters)
    EXPECT_LE(gradient[name].abs().max().item<double>(), 1e-15) << name;
}

TEST_P(ObjectiveOf, HybridIsTheSumThatDefinesIt) {
  constexpr double weight = 0.3;
  const auto generative = make_negative_phase("cd", {.sweeps = 2});
  Hybrid hybrid(make_negative_phase("cd", {.sweeps = 2}), weight);
  const Moments s = data_moments(machine, data);
  const Moments expected = (s - Discriminative().model_moments(machine, data, Key(1))) +
                           weight * (s - generative->model_moments(machine, data, Key(5)));
  support::expect_close(s - hybrid.model_moments(machine, data, Key(5)), expected, 1e-12);
  EXPECT_TRUE(hybrid.has_particles());
  EXPECT_TRUE(at::equal(hybrid.particles().layers[0], generative->particles().layers[0]));
}

INSTANTIATE_TEST_SUITE_P(Machines, ObjectiveOf, testing::ValuesIn(classifiers()), support::case_name);

TEST(Discriminative, DoesNotDependOnItsPiecesOfRows) {
  // 4 classes × 701 hidden units: a piece holds 373 rows.
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("bernoulli:9", 4, "bernoulli:700", at::kDouble), 23, 0.1);
  const State data = labelled_rows(machine, 500);
  Moments parts = machine.parameters().zeros_like();
  for (const auto& [first, count] : {std::pair(0, 137), std::pair(137, 363)}) {
    State rows = data;
    for (const std::size_t layer : machine.observed()) rows.layers[layer] = data.layers[layer].narrow(0, first, count);
    parts.add_(class_moments(machine, rows, 0.2), count / 500.0);
  }
  support::expect_close(class_moments(machine, data, 0.2), parts, 1e-12);
}

// Fast weights must follow the generative gradient alone, whatever the classes say.
TEST(Hybrid, TellsItsGenerativePhaseOfTheGenerativeGradient) {
  const BoltzmannMachine machine = classifiers()[0].make();
  const State data = labelled_rows(machine, 7);
  const NegativePhaseOptions options{.particles = 9, .fast_rate = 0.2, .fast_decay = 0.9};
  Fpcd alone(options);
  Hybrid hybrid(std::make_unique<Fpcd>(options), 0.05);
  const Moments s = data_moments(machine, data);
  Moments told;
  for (std::uint64_t update = 0; update < 5; ++update) {
    alone.observe_gradient(s - alone.model_moments(machine, data, Key(6).fold_in(update)));
    hybrid.observe_gradient(s - hybrid.model_moments(machine, data, Key(6).fold_in(update)));
    for (std::size_t layer = 0; layer < 3; ++layer)
      EXPECT_TRUE(at::equal(alone.particles().layers[layer], hybrid.particles().layers[layer]));
  }
  const NamedTensors state = hybrid.state();
  for (const auto& [name, value] : alone.overlay().entries())
    support::expect_close(find_tensor(state, "fast." + name, "hybrid"), value, 1e-12, name);
}

TEST(Hybrid, ContinuesBitIdenticallyFromASavedState) {
  const BoltzmannMachine machine = classifiers()[0].make();
  const State data = labelled_rows(machine, 7);
  const auto make = [] { return Hybrid(make_negative_phase("fpcd", {.particles = 13, .fast_rate = 0.5}), 0.1); };
  const auto step = [&](Hybrid& phase, std::uint64_t update) {
    Moments model = phase.model_moments(machine, data, Key(16).fold_in(update));
    phase.observe_gradient(data_moments(machine, data) - model);
    return model;
  };
  Hybrid whole = make(), resumed = make();
  for (std::uint64_t update = 0; update < 5; ++update) (void)step(whole, update);
  NamedTensors saved;
  for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
  resumed.restore(saved);
  for (std::uint64_t update = 5; update < 9; ++update)
    EXPECT_TRUE(support::identical(step(whole, update), step(resumed, update)));
}

TEST(Objective, SaysWhatIsMissing) {
  const BoltzmannMachine rbm = make_rbm("bernoulli:2", "bernoulli:2", at::kDouble);
  support::expect_mentions(
      support::message_of([&] { (void)Discriminative().model_moments(rbm, labelled_rows(rbm, 2), Key(1)); }),
      {"label", "classification_rbm"});
  support::expect_mentions(support::message_of([] { (void)make_objective("both", nullptr, 1); }),
                           {"both", "generative", "discriminative", "hybrid"});
  support::expect_mentions(
      support::message_of([] { (void)make_objective("hybrid", make_negative_phase("cd", {}), 0); }), {"positive"});
}

}  // namespace
}  // namespace harmonium
