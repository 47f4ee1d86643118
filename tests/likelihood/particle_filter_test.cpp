#include "harmonium/likelihood/particle_filter.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::allowed_deviations;
using support::expect_close;
using support::expect_mean;

constexpr std::int64_t hmm_states = 3, hmm_symbols = 2;

// A chain of three states that emits one of two symbols at each step.
struct Hmm {
  at::Tensor start = at::tensor({0.6, 0.3, 0.1}, at::kDouble);
  at::Tensor move = at::tensor({0.80, 0.15, 0.05, 0.10, 0.60, 0.30, 0.25, 0.05, 0.70}, at::kDouble).view({3, 3});
  at::Tensor emit = at::tensor({0.95, 0.05, 0.50, 0.50, 0.10, 0.90}, at::kDouble).view({3, 2});

  // By the forward recursion.
  [[nodiscard]] double probability(const std::vector<std::int64_t>& symbols) const {
    at::Tensor alpha = start * emit.select(1, symbols.front());
    for (std::size_t t = 1; t < symbols.size(); ++t) alpha = alpha.matmul(move) * emit.select(1, symbols[t]);
    return alpha.sum().item<double>();
  }
  // A state of each row of probabilities.
  [[nodiscard]] static at::Tensor drawn(const at::Tensor& probabilities, const Key& key) {
    const at::Tensor u = uniform(key, {probabilities.size(0), 1}, at::kDouble);
    return probabilities.cumsum(1).le(u).sum(1).clamp_max(hmm_states - 1);
  }
  // Laws of the next state: rows × states.
  [[nodiscard]] at::Tensor law(const at::Tensor& before, std::int64_t rows) const {
    return before.defined() ? move.index_select(0, before) : start.expand({rows, hmm_states});
  }
};

// Particles whose proposal is neither the prior nor the best one. All sequences have the same symbols, each up to its
// length.
class HmmWalk final : public ParticleWalk {
 public:
  HmmWalk(std::vector<std::int64_t> symbols, std::vector<std::int64_t> alive, std::int64_t particles,
          at::Tensor held = {})
      : symbols_(std::move(symbols)), alive_(std::move(alive)), particles_(particles), held_(std::move(held)) {}

  [[nodiscard]] at::Tensor step(std::int64_t t, const Key& key) override {
    const std::int64_t sequences = alive_[static_cast<std::size_t>(t)], rows = sequences * particles_;
    const at::Tensor prior = hmm_.law(t == 0 ? at::Tensor() : state_.narrow(0, 0, rows), rows);
    const at::Tensor emitted = hmm_.emit.select(1, symbols_[static_cast<std::size_t>(t)]);
    const at::Tensor skewed = prior.sqrt() * (emitted + 0.2), proposal = skewed / skewed.sum(1, true);
    state_ = Hmm::drawn(proposal, key);
    if (held_.defined()) state_.view({sequences, particles_}).select(1, 0).copy_(held_.select(1, t));
    const auto of_state = [&](const at::Tensor& table) { return table.gather(1, state_.unsqueeze(1)).squeeze(1); };
    return (of_state(prior) * emitted.index_select(0, state_) / of_state(proposal)).log();
  }
  void resample(const at::Tensor& ancestors) override { state_ = state_.index_select(0, ancestors); }

 private:
  Hmm hmm_;
  std::vector<std::int64_t> symbols_, alive_;
  std::int64_t particles_;
  at::Tensor held_, state_;
};

const std::vector<std::int64_t> hmm_observed = {0, 1, 1, 0, 1, 1};
constexpr std::int64_t hmm_repetitions = 20'000;

FilteredSequences filtered(const ParticleFilterOptions& options, std::uint64_t seed) {
  const std::vector<std::int64_t> alive(hmm_observed.size(), hmm_repetitions);
  HmmWalk walk(hmm_observed, alive, options.particles);
  return particle_filter(walk, alive, options, Key(seed));
}

// 20 000 filters each, as sequences side by side; a false alarm in 10⁷ runs for every number.
TEST(ParticleFilter, HasTheMeanOfTheForwardRecursionWheneverItResamples) {
  const double p = Hmm().probability(hmm_observed);
  for (const double threshold : {0.0, 0.5, 0.8, 1.5}) {
    const FilteredSequences found = filtered({.particles = 4, .threshold = threshold}, 1);
    expect_mean(found.log_p.exp(), at::full({}, p, at::kDouble), format("threshold {}", threshold));
    expect_close(found.increments.view({6, hmm_repetitions}).sum(0), found.log_p, 1e-12);
    const std::int64_t chances = hmm_repetitions * 5;
    if (threshold == 0.0) {
      EXPECT_EQ(found.resampled, 0);
    }
    if (threshold == 0.5) {
      EXPECT_TRUE(found.resampled > chances / 100 && found.resampled < chances / 2) << found.resampled;
    }
    if (threshold == 1.5) {
      EXPECT_EQ(found.resampled, chances);
    }
    // Jensen: what is unbiased for p is low for log p.
    EXPECT_LT(found.log_p.mean().item<double>(), std::log(p));
  }
}

// What a filter that does not carry its weights over steps without resampling would say.
class PlainMeans final : public ParticleWalk {
 public:
  explicit PlainMeans(ParticleWalk& walk) : walk_(walk) {}
  [[nodiscard]] at::Tensor step(std::int64_t t, const Key& key) override {
    const at::Tensor log_w = walk_.step(t, key);
    sum = (sum.defined() ? sum : at::zeros({hmm_repetitions}, at::kDouble)) +
          at::logsumexp(log_w.view({hmm_repetitions, 4}), 1) - std::log(4.0);
    return log_w;
  }
  void resample(const at::Tensor& ancestors) override { walk_.resample(ancestors); }
  at::Tensor sum;

 private:
  ParticleWalk& walk_;
};

TEST(ParticleFilter, IsNotTheProductOfPlainMeansWhereStepsDoNotResample) {
  const double p = Hmm().probability(hmm_observed);
  const std::vector<std::int64_t> alive(hmm_observed.size(), hmm_repetitions);
  HmmWalk walk(hmm_observed, alive, 4);
  PlainMeans plain(walk);
  (void)particle_filter(plain, alive, {.particles = 4, .threshold = 0.5}, Key(2));
  const at::Tensor wrong = plain.sum.exp();
  const double error = wrong.std().item<double>() / std::sqrt(double{hmm_repetitions});
  EXPECT_GT(std::abs(wrong.mean().item<double>() - p), 10 * error);
  // Where every step resamples both are one.
  HmmWalk again(hmm_observed, alive, 4);
  PlainMeans always(again);
  const FilteredSequences found = particle_filter(always, alive, {.particles = 4, .threshold = 2}, Key(2));
  expect_close(always.sum, found.log_p, 1e-12);
}

TEST(ParticleFilter, WithoutResamplingIsImportanceSamplingOfWholeSequences) {
  const std::vector<std::int64_t> alive(hmm_observed.size(), 3);
  HmmWalk walk(hmm_observed, alive, 50), same(hmm_observed, alive, 50);
  const FilteredSequences found = particle_filter(walk, alive, {.particles = 50, .threshold = 0}, Key(3));
  at::Tensor log_w = at::zeros({3, 50}, at::kDouble);
  for (std::int64_t t = 0; t < 6; ++t)
    log_w += same.step(t, Key(3).fold_in(static_cast<std::uint64_t>(t)).fold_in(0)).view({3, 50});
  expect_close(found.log_p, at::logsumexp(log_w, 1) - std::log(50.0), 1e-12);
}

TEST(ParticleFilter, TakesSequencesOfDifferentLengths) {
  // Ten thousand of six steps, as many of four and of one; the same false-alarm rate.
  constexpr std::int64_t each = 10'000;
  const std::vector<std::int64_t> alive = {3 * each, 2 * each, 2 * each, 2 * each, each, each};
  HmmWalk walk(hmm_observed, alive, 4);
  const FilteredSequences found = particle_filter(walk, alive, {.particles = 4}, Key(4));
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::size_t length = i == 0 ? 6 : i == 1 ? 4 : 1;
    expect_mean(found.log_p.narrow(0, i * each, each).exp(),
                at::full({}, Hmm().probability({hmm_observed.begin(), hmm_observed.begin() + length}), at::kDouble),
                format("{} steps", length));
  }
}

// Draws of the states that the chain passes through given what it emits: of all 3⁶ paths by their probabilities.
at::Tensor posterior_paths(std::int64_t count) {
  const Hmm hmm;
  const at::Tensor numbers = at::arange(729, at::kLong);
  std::vector<at::Tensor> states;
  at::Tensor p = at::ones({729}, at::kDouble);
  for (std::size_t t = 0; t < hmm_observed.size(); ++t) {
    const at::Tensor before = t == 0 ? at::Tensor() : states.back();
    states.push_back(at::floor_divide(numbers, static_cast<std::int64_t>(std::pow(3, t))).remainder(3));
    p = p * hmm.law(before, 729).gather(1, states.back().unsqueeze(1)).squeeze(1) *
        hmm.emit.select(1, hmm_observed[t]).index_select(0, states.back());
  }
  EXPECT_NEAR(p.sum().item<double>(), hmm.probability(hmm_observed), 1e-14);
  const at::Tensor cumulative = (p / p.sum()).cumsum(0), u = uniform(Key(5), {count}, at::kDouble);
  return at::stack(states, 1).index_select(0, at::searchsorted(cumulative, u, false, true).clamp_max(728));
}

// With the path that made the sequence held, the mean of 1/p̂ is 1/p, and log p̂ errs upwards.
TEST(ParticleFilter, BoundsFromAboveWithTheTruePathHeld) {
  const double p = Hmm().probability(hmm_observed);
  const at::Tensor truth = posterior_paths(hmm_repetitions);
  const std::vector<std::int64_t> alive(hmm_observed.size(), hmm_repetitions);
  for (const double threshold : {0.0, 0.7, 1.5}) {
    HmmWalk walk(hmm_observed, alive, 4, truth);
    const FilteredSequences found =
        particle_filter(walk, alive, {.particles = 4, .threshold = threshold, .held = true}, Key(7));
    expect_mean((-found.log_p).exp(), at::full({}, 1 / p, at::kDouble), format("threshold {}", threshold));
    EXPECT_GT(found.log_p.mean().item<double>(), std::log(p));
    // The mean of a held filter and of an ordinary one, too.
    HmmWalk beside(hmm_observed, alive, 4);
    const at::Tensor other = particle_filter(beside, alive, {.particles = 4, .threshold = threshold}, Key(8)).log_p;
    const at::Tensor both = at::logaddexp(found.log_p, other) - std::log(2.0);
    expect_mean((-both).exp(), at::full({}, 1 / p, at::kDouble), format("both, threshold {}", threshold));
  }
  // Not so where resampling may lose it.
  HmmWalk walk(hmm_observed, alive, 4, truth);
  const FilteredSequences lost = particle_filter(walk, alive, {.particles = 4, .threshold = 1.5}, Key(7));
  const at::Tensor inverse = (-lost.log_p).exp();
  EXPECT_GT(std::abs(inverse.mean().item<double>() - 1 / p),
            allowed_deviations * inverse.std().item<double>() / std::sqrt(double{hmm_repetitions}));
}

TEST(ParticleFilter, DrawsByTheKeyAlone) {
  const at::Tensor one = filtered({.particles = 4}, 1).log_p;
  EXPECT_TRUE(at::equal(one, filtered({.particles = 4}, 1).log_p));
  EXPECT_FALSE(at::equal(one, filtered({.particles = 4}, 2).log_p));
}

TEST(ParticleFilter, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  HmmWalk walk(hmm_observed, {2, 3}, 4);
  expect_mentions(message_of([&] {
                    (void)particle_filter(walk, {2, 3}, {.particles = 4}, Key(1));
                  }),
                  {"longest first"});
  expect_mentions(message_of([&] { (void)particle_filter(walk, {3, 2}, {.particles = 0}, Key(1)); }), {"particles"});
}

}  // namespace
}  // namespace harmonium
