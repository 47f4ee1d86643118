// What every objective owes to Training.
#include <gtest/gtest.h>

#include "harmonium/geometry/optimizer_by_parts.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"
#include "harmonium/models/free_energy/covariance_model.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/objectives/contrasted_part.h"
#include "harmonium/training/objectives/criterion.h"
#include "harmonium/training/objectives/energy_contrast.h"
#include "harmonium/training/objectives/surrogate_ascent.h"
#include "tests/support/belief_net.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

Training contrastive(bool first) {
  const Dataset data = random_bits(50, 6);
  BoltzmannMachine machine = make_rbm("gaussian:6", "bernoulli:4");
  initialize(machine, Key(first ? 1 : 9), 0.5);
  auto metric = make_metric("centering", machine.topology(), machine.parameters());
  return make_training(std::move(machine), BatchStream(data, {.batch = 16}, Key(2)),
                       make_negative_phase("pcd", {.sweeps = 1, .sweeps_final = 4, .particles = 20}), std::move(metric),
                       {.rate_bias = 0.05, .rate_weights = 0.05, .momentum = 0.5, .weight_decay = 1e-3},
                       {.updates = 40, .averaging = 10, .seed = 3}, {.target = 0.1, .cost = 0.3});
}

Training sampled_posterior(bool first) {
  const Dataset data = random_bits(50, 6);
  BoltzmannMachine machine = make_chain({"bernoulli:6", "bernoulli:4", "bernoulli:3"});
  initialize(machine, Key(first ? 1 : 9), 0.5);
  auto metric = make_metric("fang", machine.topology(), machine.parameters());
  return make_training(std::move(machine), BatchStream(data, {.batch = 16}, Key(2)),
                       make_negative_phase("pcd", {.sweeps = 1, .particles = 20}), std::move(metric),
                       {.rate_bias = 0.05, .rate_weights = 0.05}, {.updates = 40, .averaging = 10, .seed = 3}, {},
                       {.by = DataInference::By::sampling, .sampling = {.sweeps = 2}, .seed = first ? 4u : 8u});
}

Training criterion(bool first) {
  FeedForward net = make_autoencoder(6, {4, 2}, Activation::relu, Activation::logistic);
  initialize(net, Key(first ? 1 : 9));
  return make_training(net, BatchStream(random_bits(50, 6), {.batch = 16}, Key(2)),
                       {.loss = Loss::bernoulli, .dropout = {.inputs = 0.2, .hidden = 0.2}}, "adam",
                       {.rate_bias = 0.05, .rate_weights = 0.05, .momentum = 0.5, .weight_decay_l1 = 1e-3},
                       {.updates = 40, .averaging = 10, .seed = 3});
}

Training wake_sleep(bool first) {
  return make_training(first ? support::small_untied_net(true) : untied(support::small_belief_net(true)),
                       BatchStream(
                           [] {
                             Dataset data = random_bits(50, 4);
                             data.labels = data.values.select(1, 0).to(at::kLong);
                             return data;
                           }(),
                           {.batch = 16, .classes = 3}, Key(2)),
                       make_negative_phase("pcd", {.sweeps = 1, .particles = 20}), "adam",
                       {.rate_bias = 0.05, .rate_weights = 0.05, .momentum = 0.5},
                       {.updates = 40, .averaging = 10, .seed = 3});
}

// Two players, of whom one moves at a time, as the batch says: a is pulled towards 1, b towards a.
Training two_players(bool first) {
  const auto pull = [](const Moments& leaves, const std::vector<at::Tensor>& batch, const Key&) {
    const bool first_moves = batch[0].sum().item<double>() < 0.5;
    return first_moves ? (leaves["a"] - 1).square().sum() : (leaves["b"] - leaves["a"].detach()).square().sum();
  };
  const Dataset turns{.name = "turns", .values = at::tensor({0, 1}, at::kByte).unsqueeze(1)};
  auto objective = std::make_unique<Criterion>(
      Moments{{"a", at::full({2}, first ? 3 : 7, at::kFloat)}, {"b", at::full({2}, first ? -2 : 5, at::kFloat)}},
      std::vector<ParameterGroup>{{.names = {"a", "b"}, .kind = ParameterKind::weights}}, pull);
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  return {std::move(objective),
          std::move(optimizer),
          BatchStream(turns, {.batch = 1}, Key(2)),
          {.rate_weights = 0.1, .momentum = 0.5, .weight_decay = 0.01},
          {.updates = 40, .averaging = 10, .seed = 3}};
}

// Chains, their step, their acceptance and the fast weights are kept, and parameters stay in their domain.
Training energy_contrast(bool first) {
  const auto model = std::make_shared<const CovarianceModel>(CovarianceStructure{
      .inputs = 6, .hidden = 3, .filters = 6, .pooled = 3, .units = CovarianceUnits::gammas, .equal_norms = true});
  auto objective = std::make_unique<EnergyContrast>(
      model, model->initial_parameters(Key(first ? 1 : 9)),
      EnergyContrastOptions{.particles = 20, .leapfrog = 4, .fast_rate = 0.01}, Key(first ? 5 : 6));
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  return {std::move(objective),
          std::move(optimizer),
          BatchStream(random_bits(50, 6), {.batch = 16}, Key(2)),
          {.rate_bias = 0.01, .rate_weights = 0.01, .momentum = 0.5, .weight_decay = 1e-3},
          {.updates = 40, .averaging = 10, .seed = 3}};
}

// A net whose prior is a machine: its chains, and both optimizers side by side.
Training contrasted_part(bool first) {
  SigmoidBeliefNet net({.visible = "bernoulli:6", .latent = {5}, .prior_hidden = 4});
  initialize(net, Key(first ? 1 : 9), at::full({6}, 0.3, at::kFloat));
  const auto climbed = std::make_shared<LatentObjective>("rws:3", net.widths_below());
  const std::shared_ptr<NegativePhase> phase = make_negative_phase("pcd", {.sweeps = 1, .particles = 20});
  const auto tops = std::make_shared<at::Tensor>();
  const Moments& all = net.parameters();
  Moments rest;
  ParameterGroup names;
  for (const auto& [name, value] : all.entries()) names.names.push_back(name);
  for (const auto& [name, value] : all.entries())
    if (!name.starts_with(RbmPrior::prefix())) rest.insert(name, value);
  auto whole = std::make_unique<SurrogateAscent>(
      all, std::vector<ParameterGroup>{names}, "log_likelihood",
      [net, climbed, tops](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        Trace seen;
        const auto found = climbed->estimate(net, leaves, batch.front(), step.key, {}, &seen);
        *tops = climbed->chosen_tops(seen, step.key.fold_in(7));
        return SurrogateAscent::Value{.climbed = found.climbed, .shown = found.shown};
      });
  const BoltzmannMachine machine = net.rbm_prior()->machine(all);
  auto objective =
      std::make_unique<ContrastedPart>(std::move(whole), machine, RbmPrior::prefix(), phase, [tops] { return *tops; });
  std::vector<OptimizerByParts::Part> parts;
  parts.push_back({.prefix = RbmPrior::prefix(),
                   .optimizer = make_metric("fang", machine.topology(), machine.parameters(), {.refit_every = 5}),
                   .pairwise_rate = 0.1});
  parts.push_back({.prefix = "", .optimizer = make_optimizer("adam", {names}, rest)});
  return {std::move(objective),
          std::make_unique<OptimizerByParts>(std::move(parts)),
          BatchStream(random_bits(50, 6), {.batch = 16}, Key(2)),
          {.rate_bias = 0.05, .rate_weights = 0.05, .momentum = 0.5},
          {.updates = 40, .averaging = 10, .seed = 3}};
}

struct ObjectiveCase {
  std::string name;
  Training (*make)(bool first);  // the other begins elsewhere, so that nothing is right by luck
  friend void PrintTo(const ObjectiveCase& one, std::ostream* out) { *out << one.name; }
};

class EveryObjective : public testing::TestWithParam<ObjectiveCase> {};

TEST_P(EveryObjective, GoesOnBitByBitFromARestoredState) {
  Training whole = GetParam().make(true);
  NamedTensors saved;
  while (!whole.finished()) {
    if (whole.update() == 17) {
      whole.observe_error(0.5);  // a best model is part of the state
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
    }
    whole.step();
  }
  Training resumed = GetParam().make(false);
  resumed.restore(17, saved);
  for (int i = 0; i < 23; ++i) resumed.step();
  EXPECT_TRUE(resumed.finished());
  EXPECT_TRUE(support::identical(resumed.parameters(), whole.parameters()));
  EXPECT_TRUE(support::identical(resumed.averaged(), whole.averaged()));
  EXPECT_EQ(resumed.gradient_norm(), whole.gradient_norm());
  EXPECT_EQ(resumed.kept().update, 17);
  EXPECT_TRUE(support::identical(resumed.kept().parameters, whole.kept().parameters));
  const NamedTensors one = whole.state(), other = resumed.state();
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].first, other[i].first);
    EXPECT_TRUE(at::equal(one[i].second, other[i].second)) << one[i].first;
  }
  EXPECT_EQ(whole.take_measurements(), resumed.take_measurements());
}

TEST_P(EveryObjective, GroupsAllItsParametersOnce) {
  Training training = GetParam().make(true);
  std::size_t grouped = 0;
  for (const ParameterGroup& group : training.objective_as<Objective>().groups())
    for (const std::string& name : group.names) grouped += training.parameters().contains(name) ? 1 : 100;
  EXPECT_EQ(grouped, training.parameters().entries().size());
}

INSTANTIATE_TEST_SUITE_P(All, EveryObjective,
                         testing::Values(ObjectiveCase{"Contrastive", contrastive},
                                         ObjectiveCase{"SampledPosterior", sampled_posterior},
                                         ObjectiveCase{"Criterion", criterion}, ObjectiveCase{"WakeSleep", wake_sleep},
                                         ObjectiveCase{"TwoPlayers", two_players},
                                         ObjectiveCase{"EnergyContrast", energy_contrast},
                                         ObjectiveCase{"ContrastedPart", contrasted_part}),
                         [](const auto& one) { return one.param.name; });

TEST(Objective, ThatLeavesEntriesOutLeavesTheirParametersUntouched) {
  Training training = two_players(true);
  int a_moved = 0, b_moved = 0;
  for (int i = 0; i < 20; ++i) {
    const Moments before = training.parameters().clone();
    training.step();
    const bool a = !at::equal(before["a"], training.parameters()["a"]),
               b = !at::equal(before["b"], training.parameters()["b"]);
    EXPECT_NE(a, b) << "one moves, and neither inertia nor weight decay moves the other";
    a_moved += a ? 1 : 0;
    b_moved += b ? 1 : 0;
  }
  EXPECT_EQ(a_moved, 10);
  EXPECT_EQ(b_moved, 10);
}

TEST(Training, IsFinishedWhenPatienceIsAtItsEndAndKeepsTheBest) {
  const Dataset data = random_bits(50, 6);
  FeedForward net = make_autoencoder(6, {3}, Activation::logistic, Activation::logistic);
  initialize(net, Key(1));
  Training training = make_training(net, BatchStream(data, {.batch = 16}, Key(2)), {.loss = Loss::bernoulli}, "sgd", {},
                                    {.updates = 100, .averaging = 1, .patience = 8});
  for (int i = 0; i < 20; ++i) training.step();
  EXPECT_FALSE(training.finished()) << "nobody has told an error";
  EXPECT_EQ(training.kept().update, 20);
  training.observe_error(0.3);
  const Moments best = training.averaged().clone();
  for (int i = 0; i < 7; ++i) training.step();
  training.observe_error(0.4);
  EXPECT_FALSE(training.finished());
  training.step();
  EXPECT_TRUE(training.finished());
  EXPECT_EQ(training.kept().update, 20);
  EXPECT_TRUE(support::identical(training.kept().parameters, best));
  training.observe_error(0.2);
  EXPECT_FALSE(training.finished()) << "a new best on the last line lets it go on";
}

}  // namespace
}  // namespace harmonium
