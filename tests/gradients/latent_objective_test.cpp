// Every objective on every small net: means of estimates by enumeration of all draws, and by draws.
#include "harmonium/gradients/objectives/latent_objective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/gradients/exact_gradient.h"
#include "tests/support/belief_net.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::small_sbn;

Moments leaves_of(const Moments& parameters) {
  return parameters.map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
}

// Gradients of a number, in one vector, of the entries whose names begin with one of these; zero where it has none.
at::Tensor flat_gradient(const Moments& leaves, const at::Tensor& value, const std::vector<std::string>& prefixes) {
  for (const auto& [name, leaf] : leaves.entries())
    if (leaf.grad().defined()) at::Tensor(leaf).mutable_grad().reset();
  value.backward();
  std::vector<at::Tensor> parts;
  for (const auto& [name, leaf] : leaves.entries())
    for (const std::string& prefix : prefixes)
      if (name.starts_with(prefix))
        parts.push_back((leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf)).reshape({-1}));
  return at::cat(parts);
}

const std::vector<std::string> of_generation = {"down", "prior"}, of_recognition = {"up"},
                               of_both = {"down", "prior", "up"};

at::Tensor sum_over_layers(const std::vector<at::Tensor>& terms) {
  at::Tensor total = terms.front();
  for (std::size_t l = 1; l < terms.size(); ++l) total = total + terms[l];
  return total;
}

// L_K of a row by the sum over all tuples of draws, differentiable in everything.
// With a power other than one: (1/power) E log (1/K) Σ w^power.
at::Tensor enumerated_bound(const SigmoidBeliefNet& net, const Moments& leaves, const at::Tensor& row,
                            std::int64_t draws, double power = 1) {
  const Trace trace = support::enumerated(net, leaves, row, support::all_tuples(net, draws));
  const at::Tensor log_q = sum_over_layers(trace.log_q).sum(1);
  return (log_q.exp() * (at::logsumexp(power * trace.log_weights(), 1) - std::log(double(draws)))).sum() / power;
}

// The mean of the surrogate over all tuples: its derivative is the mean of the estimate.
at::Tensor mean_surrogate(const LatentObjective& objective, const SigmoidBeliefNet& net, const Moments& leaves,
                          const at::Tensor& row) {
  const std::vector<at::Tensor> tuples = support::all_tuples(net, objective.draws());
  const Trace trace = support::enumerated(net, leaves, row, tuples);
  const at::Tensor rows = row.unsqueeze(0).expand({tuples.front().size(0), row.size(0)});
  const at::Tensor weight = sum_over_layers(trace.log_q).sum(1).exp().detach();
  return (weight * objective.of_trace(leaves, rows, trace).climbed).sum();
}

// After some batches: running means that are neither zero nor those of the row.
void settle(LatentObjective& objective, double variance) {
  NamedTensors state = objective.state();
  for (auto& [name, value] : state) {
    if (name == "signal.means") value = at::full_like(value, -1.3);
    if (name == "signal.variances") value = at::full_like(value, variance);
    if (name == "signal.seen") value = at::ones_like(value);
  }
  objective.restore(state);
}

struct ObjectiveCase {
  std::string objective;
  std::int64_t bound;  // K of the L_K whose gradient is estimated without bias; 0: of none for q
  std::string baseline = "auto";
  [[nodiscard]] bool helmholtz() const { return objective.starts_with("bihm"); }
};
struct NetCase {
  std::string name;
  std::vector<std::int64_t> latent, between;
  LayerKind generation = LayerKind::factorial, recognition = LayerKind::factorial, prior = LayerKind::factorial;
  [[nodiscard]] SigmoidBeliefNet net() const {
    return support::small_sbn_of(generation, recognition, prior, latent, between, 4);
  }
};

class EveryObjectiveOnEveryNet : public ::testing::TestWithParam<std::tuple<ObjectiveCase, NetCase>> {
 protected:
  [[nodiscard]] const ObjectiveCase& climbed() const { return std::get<0>(GetParam()); }
  SigmoidBeliefNet net_ = std::get<1>(GetParam()).net();
  LatentObjective objective_{std::get<0>(GetParam()).objective,
                             net_.widths_below(),
                             {.baseline = std::get<0>(GetParam()).baseline, .recognition = net_.affine_recognition()}};
  Moments parameters_ = [&] {
    Moments all = net_.parameters();
    objective_.declare(all, Key(9));
    return all;
  }();
  at::Tensor row_ = at::tensor({1.0, 0.0, 1.0}, at::kDouble);

  // After a batch of other rows.
  void SetUp() override {
    const at::Tensor others = support::all_rows(3);
    objective_.observe(parameters_, others, net_.infer(parameters_, others, objective_.draws(), Key(21)));
  }
  // What the gradient for p is one of: L_K, or the bound of the bidirectional machine.
  [[nodiscard]] at::Tensor climbed_bound(const Moments& leaves, std::int64_t draws) const {
    return enumerated_bound(net_, leaves, row_, draws, climbed().helmholtz() ? 0.5 : 1);
  }
};

TEST_P(EveryObjectiveOnEveryNet, HasTheGradientOfItsBoundInTheMeanOverAllDraws) {
  settle(objective_, /*variance=*/0.5);
  const Moments leaves = leaves_of(parameters_);
  const std::int64_t bound = climbed().bound == 0 ? objective_.draws() : climbed().bound;
  const at::Tensor found = mean_surrogate(objective_, net_, leaves, row_), truth = climbed_bound(leaves, bound);
  support::expect_close(flat_gradient(leaves, mean_surrogate(objective_, net_, leaves, row_), of_generation),
                        flat_gradient(leaves, climbed_bound(leaves, bound), of_generation), 1e-12);
  const at::Tensor q = flat_gradient(leaves, found, of_recognition),
                   wanted = flat_gradient(leaves, truth, of_recognition);
  if (climbed().bound > 0)
    support::expect_close(q, wanted, 1e-12);
  else
    EXPECT_GT((q - wanted).abs().max().item<double>(), 1e-3) << "no estimate of the bound's gradient";
}

// Many batches of draws; where q climbs no bound, p does. False alarms: support/statistics.h.
TEST_P(EveryObjectiveOnEveryNet, EstimatesItFromDraws) {
  constexpr int repetitions = 200;
  const Moments leaves = leaves_of(parameters_);
  const std::vector<std::string>& whose = climbed().bound == 0 ? of_generation : of_both;
  const std::int64_t bound = climbed().bound == 0 ? objective_.draws() : climbed().bound;
  const at::Tensor rows = row_.unsqueeze(0).expand({20, 3}).contiguous();
  std::vector<at::Tensor> found;
  for (int i = 0; i < repetitions; ++i) {
    settle(objective_, 0.5);
    const auto estimate = objective_.estimate(net_, leaves, rows, Key(20).fold_in(static_cast<std::uint64_t>(i)));
    found.push_back(flat_gradient(leaves, estimate.climbed, whose));
  }
  support::expect_mean(at::stack(found), flat_gradient(leaves, climbed_bound(leaves, bound), whose));
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<ObjectiveCase, NetCase>>& each) {
  const ObjectiveCase& one = std::get<0>(each.param);
  std::string name = one.objective + "_" + one.baseline + "_" + std::get<1>(each.param).name;
  std::ranges::replace(name, ':', '_');
  return name;
}

constexpr LayerKind earlier = LayerKind::autoregressive, nade = LayerKind::nade;

// Optimal baselines are those of affine inference.
const std::vector<NetCase> affine_nets = {{"one", {3}, {}}, {"two", {2, 2}, {}}};

INSTANTIATE_TEST_SUITE_P(OptimalBaselines, EveryObjectiveOnEveryNet,
                         ::testing::Combine(::testing::Values(ObjectiveCase{"elbo:1", 1, "optimal"},
                                                              ObjectiveCase{"elbo:2", 1, "optimal"},
                                                              ObjectiveCase{"nvil", 1, "optimal"}),
                                            ::testing::ValuesIn(affine_nets)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Product, EveryObjectiveOnEveryNet,
    ::testing::Combine(
        ::testing::Values(ObjectiveCase{"elbo:2", 1}, ObjectiveCase{"elbo:3", 1}, ObjectiveCase{"elbo:1", 1, "none"},
                          ObjectiveCase{"elbo:2", 1, "none"}, ObjectiveCase{"elbo:1", 1, "mean"},
                          ObjectiveCase{"elbo:2", 1, "net"}, ObjectiveCase{"nvil", 1, "mean"}, ObjectiveCase{"nvil", 1},
                          ObjectiveCase{"iwae:1", 1}, ObjectiveCase{"iwae:2", 2}, ObjectiveCase{"vimco:2", 2},
                          ObjectiveCase{"vimco:3", 3}, ObjectiveCase{"rws:2", 0}, ObjectiveCase{"rws:3", 0},
                          ObjectiveCase{"bihm:2", 0}, ObjectiveCase{"bihm:3", 0}, ObjectiveCase{"wake_sleep", 0}),
        ::testing::Values(NetCase{"one", {3}, {}}, NetCase{"two", {2, 2}, {}}, NetCase{"nonlinear", {2, 2}, {3}},
                          NetCase{"autoregressive", {2, 2}, {}, earlier, earlier, earlier},
                          NetCase{"nade", {2, 2}, {}, nade, nade, nade},
                          NetCase{"recognized_by_a_nade", {3}, {}, LayerKind::factorial, nade, earlier},
                          NetCase{"generated_by_a_nade", {3}, {2}, nade, earlier, nade})),
    name_of_case);

// With an RBM as prior log p is larger by log Z, which no draw changes: the surrogate's gradient for q is that of the
// normalized net, and for the prior it lacks −∇log Z once, which the machine's own moments are.
TEST(LatentObjective, HasTheGradientOfTheBoundUnderAPriorWhoseLogZItDoesNotKnow) {
  const SigmoidBeliefNet net = support::small_sbn_with_rbm(11);
  const Moments model = exact_moments(net.rbm_prior()->machine(net.parameters()));
  const at::Tensor row = at::tensor({1.0, 0.0, 1.0, 1.0}, at::kDouble);
  for (const ObjectiveCase& each : {ObjectiveCase{"elbo:1", 1, "none"},
                                    {"elbo:1", 1, "mean"},
                                    {"elbo:1", 1, "optimal"},
                                    {"elbo:2", 1},
                                    {"iwae:2", 2},
                                    {"vimco:2", 2},
                                    {"rws:1", 0},
                                    {"rws:2", 0},
                                    {"bihm:2", 0},
                                    {"wake_sleep", 0}}) {
    SCOPED_TRACE(each.objective + " " + each.baseline);
    LatentObjective objective(each.objective, net.widths_below(),
                              {.baseline = each.baseline, .recognition = net.affine_recognition()});
    const at::Tensor others = support::all_rows(4);
    objective.observe(net.parameters(), others, net.infer(net.parameters(), others, objective.draws(), Key(21)));
    const Moments leaves = leaves_of(net.parameters());
    const std::int64_t draws = each.bound > 0 ? each.bound : objective.draws();
    const auto truth = [&] {
      return enumerated_bound(net, leaves, row, draws, each.helmholtz() ? 0.5 : 1) -
             support::enumerated_prior_log_z(net, leaves);
    };
    (void)flat_gradient(leaves, mean_surrogate(objective, net, leaves, row), of_both);
    Moments found;
    for (const auto& [name, leaf] : leaves.entries())
      found.insert(name, leaf.grad().defined() ? leaf.grad().clone() : at::zeros_like(leaf));
    for (const auto& [name, value] : model.entries()) found["prior." + name] -= value;
    (void)flat_gradient(leaves, truth(), of_both);
    for (const auto& [name, leaf] : leaves.entries())
      if (each.bound > 0 || !name.starts_with("up")) support::expect_close(found[name], leaf.grad(), 1e-12);
  }
}

// Rows that are all the same have drawn the same three states, and each stands for as many as its share says.
TEST(LatentObjective, ChoosesTopsByTheSharesOfTheirDraws) {
  const SigmoidBeliefNet net = support::small_sbn_with_rbm(12);
  constexpr std::int64_t rows = 20000;
  const at::Tensor row = at::tensor({0.0, 1.0, 1.0, 0.0}, at::kDouble);
  const at::Tensor states = support::all_rows(3).index_select(0, at::tensor({1, 4, 6}, at::kLong));
  const Trace trace = net.score(net.parameters(), row.expand({rows, 4}), {states.unsqueeze(0).expand({rows, 3, 3})});
  for (const char* spec : {"rws:3", "bihm:3", "elbo:3"}) {
    SCOPED_TRACE(spec);
    const LatentObjective objective(spec, net.widths_below());
    const at::Tensor tops = objective.chosen_tops(trace, Key(3));
    const at::Tensor codes = (tops.to(at::kLong) * at::pow(2, at::arange(3, at::kLong))).sum(1);
    const at::Tensor shares = objective.shares(trace.log_weights())[0];
    EXPECT_NEAR(shares.sum().item<double>(), 1, 1e-12);
    support::expect_frequencies(
        support::numbers(at::bincount(codes, {}, 8).index_select(0, at::tensor({1, 4, 6}, at::kLong))),
        support::numbers(shares));
  }
}

TEST(LatentObjective, BoundsRiseWithTheNumberOfDrawsToTheLogLikelihood) {
  for (const SigmoidBeliefNet& net : {small_sbn({3}, {}, 7), small_sbn({2, 2}, {3}, 8)})
    for (std::int64_t number = 0; number < 8; ++number) {
      const at::Tensor row = support::all_rows(3)[number];
      const Moments& p = net.parameters();
      double below = -1e9;
      for (std::int64_t draws = 1; draws <= 3; ++draws) {
        const double bound = enumerated_bound(net, p, row, draws).item<double>();
        EXPECT_GT(bound, below) << draws;
        below = bound;
      }
      EXPECT_LT(below, support::enumerated_log_p(net, p, row.unsqueeze(0)).item<double>());
    }
}

// Wake: −∇KL(p(h | x) ‖ q) up to O(1/K). Sleep: that of its mean over the model's own rows, without bias.
TEST(LatentObjective, TeachesRecognitionByWeightedDrawsAndByDreams) {
  const SigmoidBeliefNet net = small_sbn({2, 2}, {}, 5);
  const Moments leaves = leaves_of(net.parameters());
  const std::vector<at::Tensor> states = support::all_tuples(net, 1);
  const auto divergence = [&](const at::Tensor& row) {  // E_{p(h|x)} log q: minus the KL, but for a constant
    const Trace trace = support::enumerated(net, leaves, row, states);
    const at::Tensor posterior = sum_over_layers(trace.log_p).squeeze(1).softmax(0).detach();
    return (posterior * sum_over_layers(trace.log_q).squeeze(1)).sum();
  };
  const at::Tensor row = at::tensor({0.0, 1.0, 1.0}, at::kDouble);
  const at::Tensor wanted = flat_gradient(leaves, divergence(row), of_recognition);
  double error = 1e9;
  for (const char* spec : {"rws:1", "rws:2", "rws:3"}) {
    const LatentObjective objective(spec, net.widths_below());
    const at::Tensor wake = 2 * flat_gradient(leaves, mean_surrogate(objective, net, leaves, row), of_recognition);
    const double off = (wake - wanted).norm().item<double>();
    EXPECT_GT(off, 1e-3) << spec << ": biased";
    EXPECT_LT(off, error) << spec << ": less so with more draws";
    error = off;
  }
  // Sleep, summed over all rows and states with the probability that they are dreamt.
  const LatentObjective sleep("wake_sleep", net.widths_below());
  EXPECT_TRUE(sleep.dreams());
  at::Tensor dreamt, truth;
  for (std::int64_t number = 0; number < 8; ++number) {
    const at::Tensor each = support::all_rows(3)[number];
    const Trace trace = support::enumerated(net, leaves, each, states);
    const at::Tensor joint = sum_over_layers(trace.log_p).squeeze(1).exp().detach();
    const at::Tensor one = (joint * sleep.of_dream(trace)).sum(), other = joint.sum() * divergence(each);
    dreamt = number == 0 ? one : dreamt + one;
    truth = number == 0 ? other : truth + other;
  }
  support::expect_close(flat_gradient(leaves, dreamt, of_recognition), flat_gradient(leaves, truth, of_recognition),
                        1e-12);
}

TEST(LatentObjective, DividesNoisySignalsByTheirDeviationAndLearnsBaselines) {
  const SigmoidBeliefNet net = small_sbn({2, 2}, {}, 6);
  LatentObjective objective("nvil", net.widths_below());
  Moments parameters = net.parameters();
  objective.declare(parameters, Key(1));
  EXPECT_EQ(parameters.entries().size(), net.parameters().entries().size() + 8);
  const Moments leaves = leaves_of(parameters);
  const at::Tensor row = at::tensor({1.0, 1.0, 0.0}, at::kDouble);
  settle(objective, 0.5);
  const at::Tensor plain = flat_gradient(leaves, mean_surrogate(objective, net, leaves, row), of_recognition);
  settle(objective, 16);
  support::expect_close(flat_gradient(leaves, mean_surrogate(objective, net, leaves, row), of_recognition), plain / 4,
                        1e-12);
  // A step along its gradient brings a baseline nearer to the signals.
  const auto misses = [&](const Moments& at_parameters) {
    return -mean_surrogate(objective, net, at_parameters, row).item<double>();
  };
  const at::Tensor slope = flat_gradient(leaves, mean_surrogate(objective, net, leaves, row), {"baseline"});
  EXPECT_GT(slope.abs().max().item<double>(), 1e-3);
  Moments moved = parameters.clone();
  for (const auto& [name, value] : moved.entries())
    if (name.starts_with("baseline")) at::Tensor(value).add_(1e-4 * leaves[name].grad());
  EXPECT_LT(misses(moved), misses(parameters));
}

TEST(LatentObjective, KeepsRunningMeansOfBatchesBeforeAndTheyAreItsState) {
  const SigmoidBeliefNet net = small_sbn({2, 2}, {}, 6);
  const at::Tensor rows = support::all_rows(3);
  for (const auto& [spec, baseline] : {std::pair{"nvil", "auto"}, {"iwae:3", "auto"}, {"elbo:1", "optimal"}}) {
    const SignalOptions signals{.baseline = baseline, .recognition = net.affine_recognition()};
    LatentObjective objective(spec, net.widths_below(), signals);
    Moments parameters = net.parameters();
    objective.declare(parameters, Key(1));
    const Moments leaves = leaves_of(parameters);
    const auto first = objective.estimate(net, leaves, rows, Key(2));
    EXPECT_EQ(flat_gradient(leaves, first.climbed, of_recognition).abs().max().item<double>() > 0, spec[0] == 'i')
        << "without a mean of signals q stands still, but for the part of log p̂ itself";
    (void)objective.estimate(net, leaves, rows, Key(3));
    LatentObjective other(spec, net.widths_below(), signals);
    other.restore(objective.state());
    const auto a = objective.estimate(net, leaves, rows, Key(4)), b = other.estimate(net, leaves, rows, Key(4));
    EXPECT_EQ(a.climbed.item<double>(), b.climbed.item<double>());
    const NamedTensors left = objective.state(), right = other.state();
    for (std::size_t i = 0; i < left.size(); ++i) EXPECT_TRUE(at::equal(left[i].second, right[i].second));
  }
}

TEST(LatentObjective, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { LatentObjective("reinforce", {3}); }), {"reinforce", "vimco", "wake_sleep"});
  expect_mentions(message_of([] { LatentObjective("vimco:1", {3}); }), {"vimco:1", "2"});
  expect_mentions(message_of([] { LatentObjective("vimco:x", {3}); }), {"vimco:x", "whole number"});
  expect_mentions(message_of([] { LatentObjective("nvil:3", {3}); }), {"nvil:3", "no number of draws"});
  expect_mentions(message_of([] { LatentObjective("elbo:1", {3}); }), {"elbo:1", "no others", "optimal"});
  expect_mentions(message_of([] { LatentObjective("elbo:2", {3}, {.baseline = "best"}); }), {"best", "leave_one_out"});
  expect_mentions(message_of([] { LatentObjective("vimco:2", {3}, {.baseline = "net"}); }), {"vimco", "elbo:K"});
  expect_mentions(message_of([] { LatentObjective("nvil", {3}, {.baseline = "optimal"}); }), {"optimal", "affine"});
  expect_mentions(message_of([] { LatentObjective("nvil", {3}, {.normalize = "so"}); }), {"normalize", "so", "yes"});
  EXPECT_EQ(LatentObjective("rws", {3}).spec(), "rws:10");
}

}  // namespace
}  // namespace harmonium
