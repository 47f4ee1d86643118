#include "harmonium/likelihood/vrnn_filter.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vrnn.h"

namespace harmonium {
namespace {

using support::expect_mean;
using support::small_vrnn;

constexpr std::int64_t vrnn_repetitions = 2000;

// Every sequence of two frames many times over: those of one sequence side by side at each step.
at::Tensor repeated_pairs() { return support::all_pairs_of_frames().repeat_interleave(vrnn_repetitions, 0); }
const std::vector<std::int64_t> repeated_alive = {16 * vrnn_repetitions, 16 * vrnn_repetitions};

// 2000 filters for each of 16 sequences; a false alarm in 10⁶ runs.
TEST(VrnnFilter, HasTheMeanOfQuadrature) {
  const Vrnn net = small_vrnn();
  const at::Tensor p = support::vrnn_quadrature(net, support::all_pairs_of_frames()).exp();
  for (const double threshold : {0.0, 0.7, 2.0}) {
    const FilteredSequences found =
        filter_sequences(net, repeated_pairs(), repeated_alive, {.particles = 3, .threshold = threshold}, Key(1));
    EXPECT_EQ(found.resampled > 0, threshold > 0);
    expect_mean(found.log_p.exp().view({16, vrnn_repetitions}).t(), p, format("threshold {}", threshold));
  }
}

// The mean over sequences that the net draws of p(x)/p̂ is one where what made them is held.
TEST(VrnnFilter, BoundsItsOwnSequencesFromAbove) {
  const Vrnn net = small_vrnn();
  const at::Tensor log_p = support::vrnn_quadrature(net, support::all_pairs_of_frames());
  constexpr std::int64_t count = 20'000;
  const std::vector<std::int64_t> alive = {count, count};
  const VrnnDream dream = net.dream(net.parameters(), alive, Key(2));
  const State state{{dream.visible.narrow(0, 0, count), dream.visible.narrow(0, count, count)}};
  const at::Tensor exact = log_p.index_select(0, support::codes(state));
  for (const double threshold : {0.0, 2.0}) {
    const ParticleFilterOptions options{.particles = 3, .threshold = threshold};
    const at::Tensor upper = filter_own_sequences(net, dream, alive, options, Key(3)).log_p;
    expect_mean((exact - upper).exp(), at::ones({}, at::kDouble), format("threshold {}", threshold));
    const at::Tensor lower = filter_sequences(net, dream.visible, alive, options, Key(4)).log_p;
    // By more than noise on either side.
    const auto above = [&](const at::Tensor& difference) {
      return difference.mean().item<double>() / (difference.std().item<double>() / std::sqrt(double{count}));
    };
    EXPECT_GT(above(upper - exact), 5);
    EXPECT_GT(above(exact - lower), 5);
  }
}

}  // namespace
}  // namespace harmonium
