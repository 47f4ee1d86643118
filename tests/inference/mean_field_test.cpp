// Mean-field inference against sums over all hidden states written out, and its gradient against differences of its
// bound.
#include "harmonium/inference/mean_field.h"

#include <cmath>

#include "harmonium/inference/data_moments.h"
#include "harmonium/models/enumeration.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

constexpr MeanFieldOptions precise{.most_sweeps = 5000, .tolerance = 1e-13};

// Every state of a discrete layer, one a row.
at::Tensor all_states(const Unit& unit) {
  return unit.states(at::arange(static_cast<std::int64_t>(*unit.state_count()), at::kLong), at::kDouble);
}

// Rows of all observed layers, at most `limit` of them.
State observations(const BoltzmannMachine& machine, std::int64_t limit = 40) {
  State data;
  data.layers.resize(machine.layers().size());
  for (const std::size_t layer : machine.observed())
    data.layers[layer] = machine.independent_sample(Key(3), limit).layers[layer];
  return data;
}

// log Σ_hidden e^{−E} of each row, hidden state by hidden state.
at::Tensor log_marginal(const BoltzmannMachine& machine, const State& data) {
  State joint = data;
  at::Tensor result = at::full({data.rows()}, -std::numeric_limits<double>::infinity(), at::kDouble);
  const std::function<void(std::size_t)> visit = [&](std::size_t place) {
    const LayerSet hidden = machine.hidden();
    if (place == hidden.size()) {
      result = at::logaddexp(result, machine.log_potential(joint));
      return;
    }
    const at::Tensor states = all_states(machine.unit(hidden[place]));
    for (std::int64_t i = 0; i < states.size(0); ++i) {
      joint.layers[hidden[place]] = states.narrow(0, i, 1).expand({data.rows(), states.size(1)}).contiguous();
      visit(place + 1);
    }
  };
  visit(0);
  return result;
}

std::vector<support::MachineCase> machines_with_discrete_hidden_layers() {
  std::vector<support::MachineCase> result;
  for (const support::MachineCase& one : support::all_machines()) {
    const BoltzmannMachine machine = one.make();
    bool discrete = true;
    for (const std::size_t layer : machine.hidden())
      discrete = discrete && machine.unit(layer).state_count().has_value();
    if (discrete) result.push_back(one);
  }
  for (support::MachineCase& one : support::general_machines()) result.push_back(std::move(one));
  result.push_back(
      {"StrongGeneral",
       [] { return support::randomized(make_boltzmann("bernoulli:3", "bernoulli:4", {}, at::kDouble), 14, 2.0); }});
  result.push_back(
      {"Strong", [] {
         return support::randomized(make_chain({"bernoulli:3", "bernoulli:4", "bernoulli:3"}, at::kDouble), 12, 2.0);
       }});
  return result;
}

class MeanField : public testing::TestWithParam<support::MachineCase> {
 protected:
  const BoltzmannMachine machine_ = GetParam().make();
  const State data_ = observations(machine_);
};

TEST_P(MeanField, BoundIsNeverAboveTheTruth) {
  const at::Tensor truth = log_marginal(machine_, data_);
  for (const std::int64_t sweeps : {1, 2, 5, 1000})
    EXPECT_TRUE((variational_bound(machine_, infer(machine_, data_, {.most_sweeps = sweeps})) <= truth + 1e-10)
                    .all()
                    .item<bool>());
}

TEST_P(MeanField, BoundNeverFalls) {
  at::Tensor before = at::full({data_.rows()}, -1e30, at::kDouble);
  for (std::int64_t sweeps = 1; sweeps <= 12; ++sweeps) {
    const at::Tensor bound =
        variational_bound(machine_, infer(machine_, data_, {.most_sweeps = sweeps, .tolerance = 0}));
    EXPECT_TRUE((bound >= before - 1e-10).all().item<bool>()) << sweeps;
    before = bound;
  }
}

TEST_P(MeanField, EndsWhereEveryLayerIsTheMeanOfItsField) {
  const Posterior q = infer(machine_, data_, precise);
  EXPECT_TRUE(q.converged(precise));
  for (const std::size_t layer : machine_.hidden()) {
    const at::Tensor mean = machine_.unit(layer).mean(machine_.field(layer, q.means), machine_.layer_parameters(layer));
    EXPECT_LT((mean - q.means.layers[layer]).abs().max().item<double>(), 1e-11);
  }
  const Posterior damped = infer(machine_, data_, {.most_sweeps = 5000, .tolerance = 1e-13, .damping = 0.3});
  EXPECT_TRUE(damped.converged(precise));
}

// d L / d θ = E_q[g], although q moves with θ: at its best, moving it changes nothing.
TEST_P(MeanField, GradientOfTheBoundIsWhatTheUpdateTakes) {
  const Moments gradient = data_moments(machine_, data_, precise);
  const auto mean_bound = [&](const Moments& theta) {
    const BoltzmannMachine moved = machine_.with_parameters(theta);
    return variational_bound(moved, infer(moved, data_, precise)).mean().item<double>();
  };
  constexpr double step = 1e-5;
  for (const auto& [name, value] : machine_.parameters().entries()) {
    if (name.ends_with(".precision")) continue;  // the sign of their statistic is the unit's affair
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      const auto at_offset = [&](double offset) {
        Moments theta = machine_.parameters().clone();
        theta[name].view(-1)[i] += offset;
        return mean_bound(theta);
      };
      const double expected = gradient[name].reshape(-1)[i].item<double>();
      const EdgeInfo* edge = nullptr;
      for (const EdgeInfo& one : machine_.topology().edges)
        if (one.weights == name) edge = &one;
      if (edge != nullptr && edge->inner()) continue;
      EXPECT_NEAR((at_offset(step) - at_offset(-step)) / (2 * step), expected, 1e-6) << name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MeanField, testing::ValuesIn(machines_with_discrete_hidden_layers()), support::case_name);

class ShallowMeanField : public testing::TestWithParam<support::MachineCase> {};

TEST_P(ShallowMeanField, IsExactWhereHiddenLayersShareNoEdge) {
  const BoltzmannMachine machine = GetParam().make();
  const State data = observations(machine);
  const Posterior q = infer(machine, data);
  EXPECT_EQ(q.sweeps, 1);
  const at::Tensor exact = machine.log_sum_out(data, machine.hidden());
  EXPECT_LT((variational_bound(machine, q) - exact).abs().max().item<double>(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, ShallowMeanField, testing::ValuesIn(support::shallow_machines()), support::case_name);

TEST(MeanFieldInference, RefusesWhatItCannotDo) {
  const auto deep = [](const std::string& top) {
    return support::randomized(make_chain({"bernoulli:2", "bernoulli:2", top}, at::kDouble), 1);
  };
  const BoltzmannMachine machine = deep("bernoulli:2"), gaussian = deep("gaussian:1");
  const State data = observations(machine);
  const auto message = [&](const State& rows, const MeanFieldOptions& options) {
    return support::message_of([&] { (void)infer(machine, rows, options); });
  };
  support::expect_mentions(message({}, {}), {"visible", "no data"});
  support::expect_mentions(message(data, {.most_sweeps = 0}), {"sweep", "0"});
  support::expect_mentions(message(data, {.damping = 1}), {"damping", "1"});
  support::expect_mentions(support::message_of([&] { (void)data_moments(gaussian, data); }),
                           {"hidden2", "gaussian:1", "mean field"});
}

// Weights so strong that setting all units of a layer at once would jump back and forth for ever.
TEST(MeanFieldInference, OfUnitsThatInhibitEachOtherSettles) {
  BoltzmannMachine machine = make_boltzmann("bernoulli:2", "bernoulli:10", {}, at::kDouble);
  machine.parameters()["hidden_hidden.weights"].fill_(-4);
  machine.parameters()["hidden.bias"].fill_(2);
  machine.constrain_();
  const State data = observations(machine, 5);
  const MeanFieldOptions options{.most_sweeps = 500, .tolerance = 1e-9};
  const Posterior q = infer(machine, data, options);
  EXPECT_TRUE(q.converged(options)) << q.change;
  EXPECT_NEAR(q.means.layers[1].sum(1).mean().item<double>(), 1, 0.2);  // one unit is on and holds the others off
}

// 300 machines of up to 6 hidden units, from weak to so strong that mean field misses nats.
TEST(MeanFieldInference, BoundsManyRandomMachinesAndNeverFallsHoweverDamped) {
  double widest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::int64_t hidden = 1 + static_cast<std::int64_t>(seed % 6);
    const double scale = 0.2 * std::pow(20.0, static_cast<double>(seed) / 299), damping = 0.3 * (seed % 4);
    const bool groups = seed % 5 == 0;
    const BoltzmannMachine machine = support::randomized(
        make_boltzmann("bernoulli:3",
                       groups ? format("softmax:{}x3", (hidden + 1) / 2) : format("bernoulli:{}", hidden),
                       {.visible = seed % 2 == 0}, at::kDouble),
        1000 + seed, scale);
    const State data = observations(machine, 8);
    const at::Tensor truth = log_marginal(machine, data);
    at::Tensor before = at::full({data.rows()}, -1e30, at::kDouble);
    for (std::int64_t sweeps = 1; sweeps <= 8; ++sweeps) {
      const at::Tensor bound =
          variational_bound(machine, infer(machine, data, {.most_sweeps = sweeps, .tolerance = 0, .damping = damping}));
      EXPECT_TRUE((bound >= before - 1e-10).all().item<bool>()) << seed << " falls in sweep " << sweeps;
      before = bound;
    }
    EXPECT_TRUE((before <= truth + 1e-10).all().item<bool>()) << seed;
    widest = std::max(widest, (truth - before).max().item<double>());
  }
  EXPECT_GT(widest, 0.5) << "a bound that is always tight tests nothing";
}

// The visible layer given hidden means, with and without edges inside: where each unit is the mean of its field.
TEST(MeansGivenOthers, AreThoseOfEveryUnitsField) {
  for (const bool joined : {true, false}) {
    const BoltzmannMachine machine =
        support::randomized(make_boltzmann("bernoulli:5", "bernoulli:3", {.visible = joined}, at::kDouble), 21);
    State state = infer(machine, observations(machine), precise).means;
    state.layers[0] = means_given_others(machine, 0, state, precise);
    support::expect_close(machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0)), state.layers[0],
                          1e-10);
  }
}

}  // namespace
}  // namespace harmonium
