// A deep machine that begins as a shallower one, by visiting all states.
#include "harmonium/models/extended_chain.h"

#include "harmonium/models/builders.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_mentions;
using support::message_of;

// p(v) for every row v, state by state.
std::map<support::Row, double> distribution_of_rows(const BoltzmannMachine& machine) {
  const support::BruteForce all(machine);
  std::map<support::Row, double> found;
  for (std::size_t n = 0; n < all.configurations.size(); ++n) found[all.configurations[n][0]] += all.probabilities[n];
  return found;
}

// Σ p log p / q.
double divergence(const BoltzmannMachine& of, const BoltzmannMachine& from) {
  const auto p = distribution_of_rows(of), q = distribution_of_rows(from);
  double total = 0;
  for (const auto& [row, probability] : p) total += probability * std::log(probability / q.at(row));
  return total;
}

const std::vector<std::string> three = {"bernoulli:4", "bernoulli:3", "bernoulli:2"};
const std::vector<std::string> four = {"bernoulli:4", "bernoulli:3", "bernoulli:2", "softmax:2x3"};

TEST(ExtendedChain, HasTheSameRowsWhereNewWeightsAreZero) {
  const BoltzmannMachine rbm = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 1),
                         deep = support::randomized(make_chain(three, at::kDouble), 2);
  EXPECT_NEAR(divergence(rbm, extend_chain(rbm, three, Key(3), 0)), 0, 1e-12);
  EXPECT_NEAR(divergence(rbm, extend_chain(rbm, four, Key(3), 0)), 0, 1e-12);
  EXPECT_NEAR(divergence(deep, extend_chain(deep, four, Key(3), 0)), 0, 1e-12);
}

// What a new layer says on average is taken off the biases below, so the divergence is of second order in the variance
// of the new weights; it would be of first order without.
TEST(ExtendedChain, TakesWhatANewLayerSaysOnAverageOffTheBiasesBelow) {
  const BoltzmannMachine rbm = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 1);
  const double size = 0.1;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const BoltzmannMachine deep = extend_chain(rbm, three, Key(seed), size);
    BoltzmannMachine uncorrected = deep;
    uncorrected.parameters() = deep.parameters().clone();
    uncorrected.parameters()["hidden1.bias"].copy_(rbm.parameters()["hidden.bias"]);
    EXPECT_LT(divergence(rbm, deep), 0.1 * divergence(rbm, uncorrected)) << seed;
    EXPECT_LT(divergence(rbm, extend_chain(rbm, three, Key(seed), size / 2)), divergence(rbm, deep) / 8) << seed;
  }
}

TEST(ExtendedChain, SaysWhichMachinesItCannotBeginWith) {
  const auto complaint = [](const BoltzmannMachine& trained) {
    return message_of([&] { (void)extend_chain(trained, three, Key(1), 0.1); });
  };
  expect_mentions(complaint(make_rbm("bernoulli:4", "bernoulli:5")), {"bernoulli:5", "bernoulli:3"});
  expect_mentions(complaint(make_chain(three)), {"2 hidden layers already"});
  expect_mentions(complaint(make_classification_rbm("bernoulli:4", 2, "bernoulli:3")), {"labels"});
  expect_mentions(complaint(make_mrf("bernoulli:4")), {"no chain"});
}

}  // namespace
}  // namespace harmonium
