// A Boltzmann machine as the prior of a sigmoid belief net, against sums over all states.
#include "harmonium/models/directed/rbm_prior.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/exact.h"
#include "tests/support/belief_net.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::small_sbn;

std::vector<SigmoidBeliefNet> nets_with_priors() {
  return {support::small_sbn_with_rbm(), small_sbn({2, 3}, {}, 2, 4, 2), small_sbn({3}, {4}, 3, 4, 4)};
}

TEST(RbmPrior, MakesTheNetADistributionOnceItsLogZIsTakenOff) {
  for (const SigmoidBeliefNet& net : nets_with_priors()) {
    const double log_z = support::enumerated_prior_log_z(net, net.parameters()).item<double>();
    EXPECT_NEAR(exact_log_z(net.rbm_prior()->machine(net.parameters())).value, log_z, 1e-12);
    const at::Tensor log_p = support::enumerated_log_p(net, net.parameters(), all_rows(4)) - log_z;
    EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-12);
  }
}

TEST(RbmPrior, SumsItsHiddenUnitsOut) {
  const SigmoidBeliefNet net = support::small_sbn_with_rbm();
  const Moments& p = net.parameters();
  const at::Tensor g = all_rows(2);
  for (std::int64_t number = 0; number < 8; ++number) {
    const at::Tensor h = all_rows(3)[number];
    const at::Tensor each = h.dot(p["prior.visible.bias"]) + g.matmul(p["prior.hidden.bias"]) +
                            g.matmul(p["prior.visible_hidden.weights"].t().matmul(h));
    EXPECT_NEAR(net.rbm_prior()->log_f(p, h).item<double>(), at::logsumexp(each, 0).item<double>(), 1e-12);
  }
}

// Through either side of the machine: the net's prior has fewer hidden units than latents, and more.
TEST(RbmPrior, DreamsExactlyWhereASideIsSmall) {
  for (const SigmoidBeliefNet& net : nets_with_priors()) {
    ASSERT_TRUE(net.dreams_exactly());
    const Dream made = net.dream(net.parameters(), 20000, Key(5));
    const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
    const at::Tensor log_p = support::enumerated_log_p(net, net.parameters(), all_rows(4)) -
                             support::enumerated_prior_log_z(net, net.parameters());
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)), support::numbers(log_p.exp()));
  }
}

// Too large to be enumerated, but for two latents and a hidden unit without any weight: what the two do is known.
TEST(RbmPrior, WalksChainsWhereNoSideIsSmall) {
  const RbmPrior prior(17, 17, at::kDouble);
  ASSERT_FALSE(prior.draws_exactly());
  Moments parameters;
  prior.declare(parameters);
  const double b = -0.4, c = -1.0, w = 1.5;
  parameters["prior.visible.bias"].narrow(0, 0, 2).fill_(b);
  parameters["prior.hidden.bias"][0].fill_(c);
  parameters["prior.visible_hidden.weights"].select(1, 0).narrow(0, 0, 2).fill_(w);
  const at::Tensor drawn = prior.draw(parameters, 20000, Key(3), 30).to(at::kLong);
  const at::Tensor on = at::arange(4, at::kLong).eq(3).to(at::kDouble) * 2 +
                        at::arange(4, at::kLong).eq(1).logical_or(at::arange(4, at::kLong).eq(2)).to(at::kDouble);
  const at::Tensor law = (b * on + at::log1p((c + w * on).exp())).softmax(0);
  support::expect_frequencies(support::numbers(at::bincount(drawn.select(1, 0) + 2 * drawn.select(1, 1), {}, 4)),
                              support::numbers(law));
  EXPECT_TRUE(at::equal(prior.draw(parameters, 5, Key(3), 3), prior.draw(parameters, 5, Key(3), 3)));
}

TEST(RbmPrior, BeginsLikeAFactorialPriorAndRefusesRelaxedBits) {
  SigmoidBeliefNet net({.visible = "bernoulli:4", .latent = {3}, .prior_hidden = 2});
  initialize(net, Key(1), at::full({4}, 0.5, at::kFloat));
  EXPECT_FALSE(net.parameters().contains(SigmoidBeliefNet::prior_name()));
  const at::Tensor h = all_rows(3).to(at::kFloat);
  const at::Tensor off = net.rbm_prior()->log_f(net.parameters(), h) + h.sum(1);
  EXPECT_LT((off - off.mean()).abs().max().item<double>(), 0.1) << "log f = −1 · h but for a constant";
  support::expect_mentions(support::message_of([&] {
                             (void)net.relax(net.parameters(), at::zeros({1, 4}), 1, Key(1), {});
                           }),
                           {"RBM", "concrete"});
}

}  // namespace
}  // namespace harmonium
