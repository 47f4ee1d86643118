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
  const BoltzmannMachine inner({{"visible", make_unit("bernoulli:2"), true}, {"hidden", make_unit("bernoulli:2")}},
                               {{"visible", "hidden"}, {"hidden", "hidden"}}, at::kDouble);
  support::expect_mentions(support::message_of([&] { (void)data_moments(inner, data); }),
                           {"hidden", "joined to each other"});
}

}  // namespace
}  // namespace harmonium
