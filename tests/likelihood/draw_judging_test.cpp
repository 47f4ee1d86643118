// Bounds on log p(x) of a DRAW net, which know of it no more than its face, against quadrature over its latents.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/likelihood/decoder_annealing.h"
#include "harmonium/likelihood/importance_bound.h"
#include "tests/support/draw.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::all_rows;

// 5.5 standard errors over 2000 rows of its own, with seeds that do not change.
TEST(DrawNet, IsBoundedByImportanceSamplingAndCaughtOnItsOwnRows) {
  const DrawNet net = support::small_draw_net(2, true);
  const Moments& p = net.parameters();
  const at::Tensor rows = all_rows(4), log_p = support::quadrature_log_p(net, rows);
  const ImportanceBound bound = importance_bound(net, p, rows, 2000, Key(1));
  EXPECT_LT((bound.log_p - log_p).abs().max().item<double>(), 0.15);
  const OwnDrawBounds few = own_draw_bounds(net, p, 2000, 2, Key(2)), many = own_draw_bounds(net, p, 2000, 50, Key(2));
  const at::Tensor codes =
      (net.dream(p, 2000, Key(2).fold_in(0)).visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
  const at::Tensor truth = log_p.index_select(0, codes);
  for (const OwnDrawBounds* each : {&few, &many}) {
    const at::Tensor low = truth - each->lower, high = each->upper - truth;
    const auto error = [](const at::Tensor& gap) {
      return support::allowed_deviations * gap.std().item<double>() / std::sqrt(2000.0);
    };
    EXPECT_GT(low.mean().item<double>(), -error(low));
    EXPECT_GT(high.mean().item<double>(), -error(high));
  }
  EXPECT_GT(few.gap_interval.low, 0.01) << "tight with two draws: nothing was tested";
  EXPECT_LT(many.gap(), few.gap() / 4);
}

// E w = p(x) upwards, whichever way chains begin: four standard errors for each of 16 rows, false alarms 1e-3 with a
// seed that does not change.
TEST(DrawNet, IsAnnealedAsADecoder) {
  const DrawNet net = support::small_draw_net(2, true);
  const at::Tensor log_p = support::quadrature_log_p(net, all_rows(4));
  for (const DecoderBase base : {DecoderBase::prior, DecoderBase::encoder}) {
    const DecoderPath path(net, net.parameters(), base, Key(3));
    const AnnealedDecoder found = anneal_decoder(path, all_rows(4), Key(4), {.chains = 100, .betas = 10});
    const at::Tensor ratio = (found.log_weights - log_p.unsqueeze(1)).exp();
    const at::Tensor error = ratio.std(1) / std::sqrt(100.0);
    EXPECT_LT(((ratio.mean(1) - 1).abs() / error).max().item<double>(), 4);
    EXPECT_GT(error.min().item<double>(), 1e-5) << "no noise, nothing was tested";
    EXPECT_GT(found.accepted, 0.3);
  }
}

}  // namespace
}  // namespace harmonium
