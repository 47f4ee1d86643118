// An RBM on word counts against sums over every order of every document's words and every hidden state.
#include <gtest/gtest.h>

#include <map>

#include "harmonium/core/error.h"
#include "harmonium/inference/data_moments.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/units/counts.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::to_tensor;

constexpr std::int64_t vocabulary = 3, hidden_units = 2;

// All orders of so many words (as counts) beside all hidden states.
struct Joint {
  at::Tensor words, hidden;
};

Joint all_documents(std::int64_t length) {
  at::Tensor counts = at::zeros({1, vocabulary}, at::kDouble);
  for (std::int64_t i = 0; i < length; ++i)
    counts = (counts.unsqueeze(1) + at::eye(vocabulary, at::kDouble).unsqueeze(0)).reshape({-1, vocabulary});
  const at::Tensor bits = to_tensor({{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}});
  return {counts.repeat_interleave(bits.size(0), 0), bits.repeat({counts.size(0), 1})};
}

class ReplicatedSoftmax : public testing::Test {
 protected:
  [[nodiscard]] at::Tensor bias() const { return machine.parameters()["visible.bias"]; }
  [[nodiscard]] at::Tensor hidden_bias() const { return machine.parameters()["hidden.bias"]; }
  [[nodiscard]] at::Tensor weights() const { return machine.parameters()["visible_hidden.weights"]; }

  // −E, term by term.
  [[nodiscard]] static at::Tensor potential(const Moments& theta, const Joint& all) {
    return all.words.matmul(theta["visible.bias"]) + all.hidden.matmul(theta["hidden.bias"]) +
           (all.words.mm(theta["visible_hidden.weights"]) * all.hidden).sum(1);
  }

  // Mean over documents of log p(one order of the words | number of words).
  [[nodiscard]] static double log_likelihood(const Moments& theta, const at::Tensor& documents) {
    double total = 0;
    for (std::int64_t row = 0; row < documents.size(0); ++row) {
      const Joint all = all_documents(documents[row].sum().item<std::int64_t>());
      const at::Tensor hidden = all.hidden.narrow(0, 0, 4);
      const Joint own{documents[row].expand({4, vocabulary}), hidden};
      total += (at::logsumexp(potential(theta, own), 0) - at::logsumexp(potential(theta, all), 0)).item<double>();
    }
    return total / static_cast<double>(documents.size(0));
  }

  BoltzmannMachine machine = support::randomized(make_rbm("counts:3", "bernoulli:2", at::kDouble), 17, 0.8);
  const at::Tensor documents = to_tensor({{2.0, 0.0, 1.0}, {0.0, 1.0, 0.0}, {1.0, 1.0, 2.0}});
};

TEST_F(ReplicatedSoftmax, HasTheConditionalsOfAllItsStates) {
  for (std::int64_t row = 0; row < documents.size(0); ++row) {
    const Joint all = all_documents(documents[row].sum().item<std::int64_t>());
    const at::Tensor p = potential(machine.parameters(), all);
    State state = machine.observe({documents.narrow(0, row, 1)});
    // p(h | words)
    const at::Tensor same = all.words.eq(documents[row]).all(1).to(at::kDouble);
    const at::Tensor given = p.exp() * same;
    expect_close(machine.unit(1).mean(machine.field(1, state), machine.layer_parameters(1))[0],
                 given.matmul(all.hidden) / given.sum(), 1e-12);
    // E[words | h] for one h
    state.layers[1] = to_tensor({{1.0, 0.0}});
    const at::Tensor likewise = p.exp() * all.hidden.eq(state.layers[1]).all(1).to(at::kDouble);
    expect_close(machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0))[0],
                 likewise.matmul(all.words) / likewise.sum(), 1e-12);
    // log Σ over words given h, and over h given words
    expect_close(machine.log_sum_out(state, {0}), likewise.sum().log().reshape({1}), 1e-12);
    expect_close(machine.log_sum_out(state, {1}), (given.sum() / same.sum() * 4).log().reshape({1}), 1e-12);
  }
}

// The model of Salakhutdinov & Hinton (2009), whose hidden field is D·a + Σ_k x_k W_k, in the weights W + 1aᵀ.
TEST_F(ReplicatedSoftmax, ScalesHiddenBiasesByTheLengthInItsWeights) {
  const at::Tensor a = at::tensor({0.3, -0.7}, at::kDouble), w = weights().clone();
  hidden_bias().zero_();
  weights().copy_(w + a);
  const at::Tensor lengths = documents.sum(1, /*keepdim=*/true);
  expect_close(machine.field(1, machine.observe({documents})), lengths * a + documents.mm(w), 1e-12);
}

// data moments − model moments, the model's by all its states, against differences of the log-likelihood.
TEST_F(ReplicatedSoftmax, ClimbsTheLikelihoodGivenLengths) {
  Moments gradient = data_moments(machine, machine.observe({documents}));
  for (std::int64_t row = 0; row < documents.size(0); ++row) {
    const Joint all = all_documents(documents[row].sum().item<std::int64_t>());
    State states = machine.observe({all.words});
    states.layers[1] = all.hidden;
    const at::Tensor p = at::softmax(potential(machine.parameters(), all), 0);
    gradient.add_(machine.moments(states, {}, p), -1.0 / static_cast<double>(documents.size(0)));
    // Words by their expectation given h are the same moments.
    expect_close(machine.moments(states, machine.fields({0}, states), p).flatten(),
                 machine.moments(states, {}, p).flatten(), 1e-12);
  }
  constexpr double step = 1e-5;
  const at::Tensor flat = machine.parameters().flatten();
  for (std::int64_t i = 0; i < flat.size(0); ++i) {
    at::Tensor up = flat.clone(), down = flat.clone();
    up[i] += step;
    down[i] -= step;
    const double slope = (log_likelihood(machine.parameters().unflatten(up), documents) -
                          log_likelihood(machine.parameters().unflatten(down), documents)) /
                         (2 * step);
    EXPECT_NEAR(gradient.flatten()[i].item<double>(), slope, 1e-8) << "parameter " << i;
  }
}

// Chains that start at exact draws stay there: chi-square over all counts of three words, false-alarm rate 1e-6.
TEST_F(ReplicatedSoftmax, KeepsItsDistributionUnderGibbsSampling) {
  constexpr std::int64_t rows = 60'000, length = 3;
  const Joint all = all_documents(length);
  const at::Tensor p = at::softmax(potential(machine.parameters(), all), 0);
  const at::Tensor start = at::searchsorted(p.cumsum(0), uniform(Key(3), {rows}, at::kDouble)).clamp_max(p.size(0) - 1);
  State state = machine.observe({all.words.index_select(0, start)});
  state.layers[1] = all.hidden.index_select(0, start);
  gibbs(machine, state, Key(4), 2);
  EXPECT_TRUE(state.layers[0].sum(1).eq(length).all().item<bool>());
  // Words and hidden state together: 10 counts × 4.
  const at::Tensor code = at::tensor({1.0, 10.0, 100.0}, at::kDouble), top = at::tensor({1000.0, 2000.0}, at::kDouble);
  const at::Tensor names = all.words.matmul(code) + all.hidden.matmul(top);
  const at::Tensor found = state.layers[0].matmul(code) + state.layers[1].matmul(top);
  std::map<std::int64_t, std::pair<double, double>> cells;  // expected, observed
  for (std::int64_t i = 0; i < p.size(0); ++i)
    cells[names[i].to(at::kLong).item<std::int64_t>()].first += p[i].item<double>();
  const at::Tensor whole = found.to(at::kLong);
  for (std::int64_t i = 0; i < rows; ++i) cells.at(whole[i].item<std::int64_t>()).second += 1;
  support::Row observed, expected;
  for (const auto& [name, cell] : cells) {
    expected.push_back(cell.first);
    observed.push_back(cell.second);
  }
  ASSERT_EQ(cells.size(), 40U);
  support::expect_frequencies(observed, expected);
}

TEST_F(ReplicatedSoftmax, SaysWhatItCannotDo) {
  EXPECT_THROW((void)machine.independent_sample(Key(1), 3), Error);
  EXPECT_THROW((void)make_rbm("bernoulli:3", "counts:2"), Error);
  State state;
  state.layers = {at::Tensor(), at::zeros({1, 2}, at::kDouble)};
  EXPECT_THROW((void)machine.field(0, state), Error);
}

}  // namespace
}  // namespace harmonium
