#include "harmonium/models/directed/vrnn.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vrnn.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::small_vrnn;
using support::vrnn_quadrature;

// Three sequences of 4, 4 and 1 frames, and one of 2: packed, and one by one.
const std::vector<std::int64_t> vrnn_lengths = {4, 4, 2, 1};
const std::vector<std::int64_t> vrnn_alive = {4, 3, 2, 2};

at::Tensor packed_bits() { return uniform(Key(3), {11, 2}, at::kDouble).gt(0.5).to(at::kDouble); }

// Numbers of the frames of a sequence among those that are packed.
at::Tensor frames_of(std::int64_t place) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t t = 0, first = 0; t < vrnn_lengths[static_cast<std::size_t>(place)];
       first += vrnn_alive[static_cast<std::size_t>(t++)])
    numbers.push_back(first + place);
  return at::tensor(numbers, at::kLong);
}

TEST(Vrnn, SeesEverySequenceAsIfItWereAlone) {
  const Vrnn net = small_vrnn(2);
  const at::Tensor values = packed_bits(), noise = normal(Key(4), {11, 2}, at::kDouble);
  const auto chosen = [&](const at::Tensor& of_frames) {
    return [&net, of_frames, first = std::int64_t{0}](std::int64_t, const at::Tensor& raw) mutable {
      const at::Tensor z = net.latent().mean(raw) + of_frames.narrow(0, first, raw.size(0));
      first += raw.size(0);
      return z;
    };
  };
  const VrnnWalk together = net.walk(net.parameters(), values, vrnn_alive, chosen(noise));
  ASSERT_EQ(together.states.size(0), 11);
  for (std::int64_t place = 0; place < 4; ++place) {
    const at::Tensor own = frames_of(place);
    const std::vector<std::int64_t> alone(static_cast<std::size_t>(own.size(0)), 1);
    const VrnnWalk one =
        net.walk(net.parameters(), values.index_select(0, own), alone, chosen(noise.index_select(0, own)));
    expect_close(together.states.index_select(0, own), one.states, 1e-13);
    expect_close(together.posteriors.index_select(0, own), one.posteriors, 1e-13);
    expect_close(together.latents.index_select(0, own), one.latents, 1e-13);
    expect_close(net.reconstruct(net.parameters(), values, vrnn_alive).index_select(0, own),
                 net.reconstruct(net.parameters(), values.index_select(0, own), alone), 1e-13);
  }
  // The memory is one: what comes first changes what comes later.
  at::Tensor other = values.clone();
  other[0][0] = 1 - other[0][0];
  const VrnnWalk changed = net.walk(net.parameters(), other, vrnn_alive, chosen(noise));
  const at::Tensor moved = (changed.states - together.states).abs().sum(1).gt(1e-6);
  EXPECT_TRUE(at::equal(moved.nonzero().view({-1}), frames_of(0).narrow(0, 1, 3)));
}

TEST(Vrnn, GivesAllSequencesTogetherProbabilityOne) {
  const Vrnn net = small_vrnn();
  expect_close(vrnn_quadrature(net, support::all_pairs_of_frames()).exp().sum(), at::ones({}, at::kDouble), 1e-9);
  expect_close(vrnn_quadrature(net, support::all_rows(2), 1).exp().sum(), at::ones({}, at::kDouble), 1e-9);
}

TEST(Vrnn, DreamsSequencesAsOftenAsTheyAreProbable) {
  const Vrnn net = small_vrnn();
  constexpr std::int64_t count = 20'000;
  const VrnnDream dream = net.dream(net.parameters(), {count, count}, Key(5));
  const State state{{dream.visible.narrow(0, 0, count), dream.visible.narrow(0, count, count)}};
  const at::Tensor seen = at::bincount(support::codes(state), {}, 16);
  const at::Tensor probable = vrnn_quadrature(net, support::all_pairs_of_frames()).exp();
  support::expect_frequencies(support::numbers(seen), support::numbers(probable));
  EXPECT_TRUE(at::equal(net.dream(net.parameters(), {3, 1}, Key(6)).visible,
                        net.dream(net.parameters(), {3, 1}, Key(6)).visible));
}

TEST(Vrnn, BeginsAtTheMeansOfTheData) {
  for (const char* visible : {"bernoulli:3", "shared_gaussian:3:0.01"}) {
    Vrnn net({.visible = visible, .units = 4, .latent = 2, .layers = {5}});
    const at::Tensor means = at::tensor({0.1F, 0.5F, 0.8F});
    initialize(net, Key(1), means);
    // Where neither state nor latent variables say anything.
    net.parameters()["output.layer1.weights"].zero_();
    const at::Tensor raw = net.output(net.parameters(), at::zeros({1, 2}), at::zeros({1, 4}));
    expect_close(net.visible().mean(raw)[0], means.to(at::kDouble), 1e-6);
  }
}

TEST(Vrnn, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const Vrnn net = small_vrnn();
  const auto choose = net.posterior_draws(Key(1));
  const auto walk = [&](const at::Tensor& values, const std::vector<std::int64_t>& alive) {
    return message_of([&] { (void)net.walk(net.parameters(), values, alive, choose); });
  };
  expect_mentions(walk(at::zeros({2, 3}, at::kDouble), {2}), {"bernoulli:2", "3"});
  expect_mentions(walk(at::zeros({3, 2}, at::kDouble), {1, 2}), {"longest first"});
  expect_mentions(walk(at::zeros({3, 2}, at::kDouble), {2}), {"3 frames", "1 steps"});
  expect_mentions(message_of([] { Vrnn({.visible = "gaussian:3"}); }), {"VRNN", "floor"});
}

}  // namespace
}  // namespace harmonium
