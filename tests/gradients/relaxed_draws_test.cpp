// Draws of bits that are made differentiable: what of them is exact, and where the bias is.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/gradients/objectives/enumerated_latents.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::small_sbn;

TEST(StraightThrough, ShowsTheDrawsOfInferenceAndTheirProbabilities) {
  const SigmoidBeliefNet net = small_sbn({3, 2}, {2}, 12);
  const at::Tensor rows = support::all_rows(3);
  const Trace plain = net.infer(net.parameters(), rows, 4, Key(1)),
              relaxed = net.relax(net.parameters(), rows, 4, Key(1), {.straight_through = true});
  for (std::size_t l = 0; l < 2; ++l) expect_close(relaxed.latents[l], plain.latents[l], 1e-15);
  expect_close(relaxed.log_weights(), plain.log_weights(), 1e-12);
}

TEST(RelaxedDraws, AreRefusedWhereBitsOfALayerWaitForEachOther) {
  for (const LayerKind kind : {LayerKind::autoregressive, LayerKind::nade}) {
    const SigmoidBeliefNet net = support::small_sbn_of(LayerKind::factorial, kind, LayerKind::factorial, {3});
    support::expect_mentions(
        support::message_of([&] { (void)net.relax(net.parameters(), support::all_rows(3), 1, Key(1), {}); }),
        {"autoregressive", "relaxed"});
    EXPECT_TRUE(net.affine_recognition().empty());
  }
}

// f = 2 h_1 − h_2 + 3 h_1 h_3: linear in every single unit, products of different units included.
TEST(StraightThrough, IsUnbiasedForWhatIsLinearInEveryUnitOfALayerAndNotElsewhere) {
  const SigmoidBeliefNet net = small_sbn({3}, {}, 13);
  const StudiedNet lab = studied(net);
  const Moments leaves =
      net.parameters().map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
  const at::Tensor row = at::tensor({1.0, 0.0, 1.0}, at::kDouble).unsqueeze(0), rows = row.expand({50, 3}).contiguous();
  const auto linear = [](const at::Tensor& h) {
    return 2 * h.select(-1, 0) - h.select(-1, 1) + 3 * h.select(-1, 0) * h.select(-1, 2);
  };
  const auto square = [](const at::Tensor& h) { return (h.sum(-1) - 1).pow(4); };
  const auto drawn = [&](const auto& f) {
    std::vector<at::Tensor> found;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const Trace trace = net.relax(leaves, rows, 1, Key(2).fold_in(i), {.straight_through = true});
      found.push_back(flat_gradient(lab, leaves, f(trace.latents[0]).mean(), true));
    }
    return at::stack(found);
  };
  const auto exact = [&](const auto& f) {
    const Trace trace = enumerated_trace(lab, leaves, row[0]);
    return flat_gradient(lab, leaves, (trace.log_q[0].exp() * f(trace.latents[0])).sum(), true);
  };
  support::expect_mean(drawn(linear), exact(linear));
  const at::Tensor biased = drawn(square);
  EXPECT_GT((biased.mean(0) - exact(square)).abs().max().item<double>(),
            20 * (biased.std(0) / std::sqrt(400.0)).max().item<double>());
}

// E w = p(x) of the relaxed net, by quadrature over the log-odds of its one latent variable: draws and both densities
// agree with each other and with what a density must be.
TEST(Concrete, HasWeightsWhoseMeanIsTheLikelihoodOfTheRelaxedNet) {
  const SigmoidBeliefNet net = small_sbn({1}, {}, 14);
  const Moments& p = net.parameters();
  const at::Tensor row = at::tensor({1.0, 0.0, 1.0}, at::kDouble);
  const Relaxation relaxation;
  constexpr std::int64_t count = 40'001;
  const at::Tensor odds = at::linspace(-60, 60, count, at::kDouble).unsqueeze(1);
  const double step = 120.0 / (count - 1), tau = relaxation.prior_temperature;
  const at::Tensor left = p[SigmoidBeliefNet::prior_name()] - tau * odds;
  const at::Tensor density = tau * left.sigmoid() * (1 - left.sigmoid());
  EXPECT_NEAR(density.sum().item<double>() * step, 1, 1e-8) << "the density of the prior";
  const at::Tensor mean = (odds.sigmoid().matmul(p["down1.layer1.weights"]) + p["down1.layer1.bias"]).sigmoid();
  const at::Tensor visible = (row * mean + (1 - row) * (1 - mean)).prod(1);
  const double likelihood = (density.squeeze(1) * visible).sum().item<double>() * step;
  const at::Tensor rows = row.unsqueeze(0).expand({4000, 3}).contiguous();
  const Trace trace = net.relax(p, rows, 10, Key(3), relaxation);
  support::expect_mean(trace.log_weights().exp(), at::full({10}, likelihood, at::kDouble));
}

// Six standard errors.
TEST(Concrete, IsAnotherBoundThanThatOfTheNetItself) {
  const SigmoidBeliefNet net = small_sbn({3}, {}, 15);
  const at::Tensor rows = at::tensor({1.0, 0.0, 1.0}, at::kDouble).unsqueeze(0).expand({20'000, 3}).contiguous();
  const LatentObjective relaxed("concrete:2", net.widths_below()), plain("straight_through", net.widths_below());
  EXPECT_EQ(relaxed.spec(), "concrete:2");
  const auto bound = [&](const LatentObjective& objective) {
    const Trace trace = objective.infer(net, net.parameters(), rows, Key(4));
    return objective.of_trace(net.parameters(), rows, trace).shown;
  };
  const at::Tensor gap = bound(relaxed) - bound(plain);
  EXPECT_GT(std::abs(gap.mean().item<double>()), 6 * gap.std().item<double>() / std::sqrt(20'000.0));
}

TEST(LatentModel, SaysWhereThereIsNothingToRelax) {
  const Vae vae = support::small_vae(1);
  support::expect_mentions(
      support::message_of([&] { (void)vae.relax(vae.parameters(), support::all_rows(4), 1, Key(1), {}); }),
      {"no relaxation"});
}

}  // namespace
}  // namespace harmonium
