// The bidirectional Helmholtz machine against the sum over all rows and latent states.
#include "harmonium/likelihood/bidirectional.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::small_sbn;

// log p̃ of rows, by enumeration.
at::Tensor log_halfway(const SigmoidBeliefNet& net, const at::Tensor& rows) {
  std::vector<at::Tensor> each;
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    const Trace trace = support::enumerated(net, net.parameters(), rows[row], support::all_tuples(net, 1));
    const at::Tensor log_q = at::stack(trace.log_q).sum(0).squeeze(1);
    each.push_back(2 * at::logsumexp(0.5 * trace.log_weights().squeeze(1) + log_q, 0));
  }
  return at::stack(each);
}

TEST(Bidirectional, StaysBelowTheLikelihoodAndItsNormalizerBelowOne) {
  constexpr LayerKind nade = LayerKind::nade;
  for (const SigmoidBeliefNet& net : {small_sbn({3}, {}, 21), small_sbn({2, 2}, {}, 22), small_sbn({2}, {2}, 23),
                                      support::small_sbn_of(nade, nade, nade, {2, 2}, {}, 24)}) {
    const at::Tensor rows = all_rows(3), halfway = log_halfway(net, rows);
    EXPECT_TRUE((halfway < support::enumerated_log_p(net, net.parameters(), rows)).all().item<bool>());
    EXPECT_LT(halfway.exp().sum().item<double>(), 1);
  }
}

// False alarms: support/statistics.h. √p̂ is unbiased for √p̃, and 2 log of it is low in the mean.
TEST(Bidirectional, EstimatesEveryRowWithoutBiasBeforeTheLogarithm) {
  const SigmoidBeliefNet net = small_sbn({2, 2}, {}, 22);
  const at::Tensor rows = all_rows(3), halfway = log_halfway(net, rows);
  std::vector<at::Tensor> roots, bounds;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const BidirectionalBound found = bidirectional_bound(net, net.parameters(), rows, 5, Key(1).fold_in(i));
    roots.push_back((0.5 * found.log_p).exp());
    bounds.push_back(found.log_p);
  }
  support::expect_mean(at::stack(roots), (0.5 * halfway).exp());
  EXPECT_TRUE((at::stack(bounds).mean(0) < halfway).all().item<bool>());
  const BidirectionalBound many = bidirectional_bound(net, net.parameters(), rows, 20'000, Key(2));
  EXPECT_NEAR(many.mean.value, halfway.mean().item<double>(), 2 * (many.mean.high - many.mean.low));
  EXPECT_EQ(many.mean.kind, EstimateKind::lower_bound);
}

// Then Σ_x p*(x) = Σ_x p̃(x)/Z² is one: Z² is that sum.
TEST(Bidirectional, FindsItsNormalizerFromRowsOfItsOwn) {
  const SigmoidBeliefNet net = small_sbn({2, 2}, {}, 24);
  const double truth = log_halfway(net, all_rows(3)).exp().sum().item<double>();
  std::vector<at::Tensor> found;
  for (std::uint64_t i = 0; i < 300; ++i)
    found.push_back(at::full(
        {1}, std::exp(bidirectional_log_z2(net, net.parameters(), 100, 3, Key(3).fold_in(i)).value), at::kDouble));
  support::expect_mean(at::stack(found), at::full({1}, truth, at::kDouble));
  const Estimate once = bidirectional_log_z2(net, net.parameters(), 4000, 10, Key(4));
  EXPECT_LT(once.low, once.value);
  EXPECT_NEAR(once.value, std::log(truth), 1.5 * (once.high - once.low)) << "three half-widths of 95 %: six deviations";
  EXPECT_EQ(once.kind, EstimateKind::unbiased_estimate);
}

TEST(Bidirectional, SaysWhatItNeeds) {
  const SigmoidBeliefNet net = small_sbn({2}, {}, 24);
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([&] { (void)bidirectional_bound(net, net.parameters(), all_rows(3), 1, Key(1)); }),
                  {"two draws", "1"});
  expect_mentions(message_of([&] { (void)bidirectional_log_z2(net, net.parameters(), 1, 1, Key(1)); }), {"two rows"});
}

}  // namespace
}  // namespace harmonium
