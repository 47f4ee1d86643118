#include "harmonium/likelihood/mean_field_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::enumerated_log_p;
using support::small_sbn;

// E_q [log p(x, h) − log q(h)] of one row by the sum over all states of the latents, q with these means.
double enumerated_elbo(const SigmoidBeliefNet& net, const at::Tensor& row, const std::vector<at::Tensor>& means,
                       std::int64_t number) {
  const std::vector<at::Tensor> states = support::all_tuples(net, 1);
  const Trace trace = support::enumerated(net, net.parameters(), row, states);
  at::Tensor joint = trace.log_p[0], log_q = at::zeros_like(joint);
  for (std::size_t l = 0; l < states.size(); ++l) {
    joint = joint + trace.log_p[l + 1];
    const at::Tensor mean = means[l][number].clamp(1e-300, 1 - 1e-16);
    log_q = log_q + (states[l] * mean.log() + (1 - states[l]) * at::log1p(-mean)).sum(2);
  }
  return (log_q.exp() * (joint - log_q)).sum().item<double>();
}

TEST(MeanFieldBoundOfBeliefNet, LiesBelowTheBoundOfItsOwnMeansAndThatBelowLogP) {
  for (const auto& [latent, seed] : {std::pair{std::vector<std::int64_t>{4}, 1}, {{3, 3}, 2}, {{3, 3}, 3}}) {
    const SigmoidBeliefNet net = small_sbn(latent, {}, static_cast<std::uint64_t>(seed), 4);
    const at::Tensor rows = all_rows(4), log_p = enumerated_log_p(net, net.parameters(), rows);
    const MeanFieldBound found = mean_field_bound(net, rows);
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
      const double bound = found.log_p[row].item<double>(), elbo = enumerated_elbo(net, rows[row], found.means, row);
      EXPECT_LE(bound, elbo + 1e-10);
      EXPECT_LE(elbo, log_p[row].item<double>() + 1e-10);
    }
    // With 200 steps it must have found most of what a factorial q can: it says something about the net.
    EXPECT_GT((found.log_p - log_p).mean().item<double>(), -1.0);
  }
}

TEST(MeanFieldBoundOfBeliefNet, IsExactWhereLatentsMatterToNoData) {
  SigmoidBeliefNet net = small_sbn({3, 2}, {}, 1, 4);
  for (const char* name : {"down1.layer1.weights", "down2.layer1.weights"}) net.parameters()[name].zero_();
  const at::Tensor rows = all_rows(4);
  const at::Tensor miss =
      (mean_field_bound(net, rows).log_p - enumerated_log_p(net, net.parameters(), rows)).abs().max();
  EXPECT_LT(miss.item<double>(), 1e-4) << "q is the prior, and the inequality has nothing to lose";
}

TEST(MeanFieldBoundOfBeliefNet, RisesFromTheMeansOfTheRecognitionNet) {
  const SigmoidBeliefNet net = small_sbn({3, 3}, {}, 5, 4);
  const at::Tensor rows = all_rows(4);
  const double few = mean_field_bound(net, rows, {.steps = 1}).log_p.mean().item<double>(),
               many = mean_field_bound(net, rows, {.steps = 300}).log_p.mean().item<double>();
  EXPECT_GT(many, few + 0.1);
}

TEST(MeanFieldBoundOfBeliefNet, RefusesNetsThatItIsNotMadeFor) {
  EXPECT_THROW((void)mean_field_bound(small_sbn({3}, {4}), all_rows(3)), Error);
  EXPECT_THROW((void)mean_field_bound(support::small_sbn_with_rbm(), all_rows(4)), Error);
  constexpr LayerKind plain = LayerKind::factorial, nade = LayerKind::nade;
  EXPECT_THROW((void)mean_field_bound(support::small_sbn_of(nade, plain, plain, {3}), all_rows(3)), Error);
  EXPECT_THROW((void)mean_field_bound(support::small_sbn_of(plain, plain, nade, {3}), all_rows(3)), Error);
}

}  // namespace
}  // namespace harmonium
