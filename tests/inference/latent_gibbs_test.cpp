#include "harmonium/inference/latent_gibbs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/inference/kept_rows.h"
#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::small_sbn;
using support::small_sbn_with_rbm;

// p(h | x) of one row by the sum over all states of the latents, in the order of all_tuples().
at::Tensor enumerated_posterior(const SigmoidBeliefNet& net, const at::Tensor& row) {
  const Trace trace = support::enumerated(net, net.parameters(), row, support::all_tuples(net, 1));
  at::Tensor joint = trace.log_p[0];
  for (std::size_t l = 1; l < trace.log_p.size(); ++l) joint = joint + trace.log_p[l];
  return joint.squeeze(1).softmax(0);
}

// Numbers of states in the order of all_rows(): of all layers side by side.
at::Tensor numbers_of(const std::vector<at::Tensor>& latents) {
  const at::Tensor bits = at::cat(latents, 1);
  const at::Tensor all = support::all_rows(bits.size(1));
  return (bits.unsqueeze(1) - all.unsqueeze(0)).abs().sum(2).argmin(1);
}

// χ² of 40 000 chains that begin at exact draws of the posterior and take two sweeps. False alarms: 1e-6 for each net
// by the Wilson–Hilferty approximation of the χ² quantile; seeds are fixed.
void expect_invariant(const SigmoidBeliefNet& net, const at::Tensor& row) {
  constexpr std::int64_t chains = 40'000;
  const at::Tensor posterior = enumerated_posterior(net, row);
  const at::Tensor start = at::searchsorted(posterior.cumsum(0), uniform(Key(7), {chains}, at::kDouble), false, true)
                               .clamp_max(posterior.size(0) - 1);
  std::vector<at::Tensor> latents;
  for (const at::Tensor& states : support::all_tuples(net, 1))
    latents.push_back(states.squeeze(1).index_select(0, start));
  latents = gibbs_sweeps(net, net.parameters(), row.unsqueeze(0).expand({chains, row.size(0)}), latents, 2, Key(8));
  const at::Tensor counts = at::bincount(numbers_of(latents), {}, posterior.size(0)).to(at::kDouble);
  const double chi2 = ((counts - chains * posterior).square() / (chains * posterior)).sum().item<double>();
  const auto freedom = static_cast<double>(posterior.size(0) - 1);
  constexpr double z = 4.75;  // one-sided 1e-6
  const double limit = freedom * std::pow(1 - 2 / (9 * freedom) + z * std::sqrt(2 / (9 * freedom)), 3);
  EXPECT_LT(chi2, limit);
}

TEST(LatentGibbs, LeavesTheEnumeratedPosteriorAsItIs) {
  expect_invariant(small_sbn({3, 2}, {}, 3), at::tensor({1.0, 0.0, 1.0}, at::kDouble));
  expect_invariant(small_sbn({2, 2, 2}, {}, 4), at::tensor({0.0, 0.0, 1.0}, at::kDouble));
  expect_invariant(small_sbn_with_rbm(), at::tensor({1.0, 0.0, 1.0, 1.0}, at::kDouble));
}

// Chains that all begin at zero. The total variation of 10 000 draws of 32 states from their law is at most 0.023 in
// the mean, and above 0.05 with a probability below 1e-6 (McDiarmid's inequality).
TEST(LatentGibbs, ComesToThePosteriorFromAnywhere) {
  constexpr std::int64_t chains = 10'000;
  const SigmoidBeliefNet net = small_sbn({3, 2}, {}, 3);
  const at::Tensor row = at::tensor({1.0, 0.0, 1.0}, at::kDouble), posterior = enumerated_posterior(net, row);
  const std::vector<at::Tensor> zeros = {at::zeros({chains, 3}, at::kDouble), at::zeros({chains, 2}, at::kDouble)};
  const auto missed = [&](std::int64_t sweeps) {
    const std::vector<at::Tensor> latents =
        gibbs_sweeps(net, net.parameters(), row.unsqueeze(0).expand({chains, 3}), zeros, sweeps, Key(9));
    const at::Tensor counts = at::bincount(numbers_of(latents), {}, posterior.size(0)).to(at::kDouble);
    return (counts / chains - posterior).abs().sum().item<double>() / 2;
  };
  EXPECT_GT(missed(0), 0.3);
  EXPECT_LT(missed(60), 0.05);
}

TEST(LatentGibbs, KeepsAStateForEveryRowAndGoesOnAfterARestore) {
  const SigmoidBeliefNet net = small_sbn({3, 2}, {}, 3);
  const at::Tensor data = support::all_rows(3), numbers = at::tensor({5, 1, 5}, at::kLong);
  LatentGibbs one(net, 8, 1, Key(1)), other(net, 8, 1, Key(2));
  const at::Tensor before = one.state()[0].second.clone();
  const std::vector<at::Tensor> moved =
      one.visit(net, net.parameters(), data.index_select(0, numbers), numbers, Key(3));
  const at::Tensor after = one.state()[0].second;
  for (const std::int64_t row : {0, 2, 3, 4, 6, 7}) EXPECT_TRUE(at::equal(before[row], after[row]));
  EXPECT_TRUE(at::equal(after[1].to(at::kDouble), moved[0][1]));
  EXPECT_TRUE(at::equal(after[5].to(at::kDouble), moved[0][2])) << "of a row that came twice the last state is kept";
  other.restore(one.state());
  const auto go_on = [&](LatentGibbs& gibbs) {
    return at::cat(gibbs.visit(net, net.parameters(), data, at::arange(8, at::kLong), Key(4)), 1);
  };
  EXPECT_TRUE(at::equal(go_on(one), go_on(other)));
}

TEST(LatentGibbs, RefusesStatesOfOtherRowsAndNetsWithLayersBetween) {
  const SigmoidBeliefNet net = small_sbn({3, 2}, {}, 3);
  LatentGibbs gibbs(net, 8, 1, Key(1));
  const LatentGibbs fewer(net, 4, 1, Key(1));
  EXPECT_THROW(gibbs.restore(fewer.state()), Error);
  const at::Tensor rows = support::all_rows(3);
  EXPECT_THROW((void)gibbs_sweeps(small_sbn({2}, {4}), small_sbn({2}, {4}).parameters(), rows,
                                  {at::zeros({8, 2}, at::kDouble)}, 1, Key(1)),
               Error);
  constexpr LayerKind plain = LayerKind::factorial, earlier = LayerKind::autoregressive;
  for (const SigmoidBeliefNet& other :
       {support::small_sbn_of(earlier, plain, plain, {2}), support::small_sbn_of(plain, plain, earlier, {2})})
    EXPECT_THROW((void)gibbs_sweeps(other, other.parameters(), rows, {at::zeros({8, 2}, at::kDouble)}, 1, Key(1)),
                 Error);
}

}  // namespace
}  // namespace harmonium
