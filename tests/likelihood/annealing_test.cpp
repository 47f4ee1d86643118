// Walking a path in groups, stopping at any step and going on.
#include "harmonium/likelihood/annealing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

class MemoryJournal final : public Journal {
 public:
  [[nodiscard]] std::optional<NamedTensors> find(const std::string& name) override {
    const auto it = kept.find(name);
    return it == kept.end() ? std::nullopt : std::optional(it->second);
  }
  void keep(const std::string& name, const NamedTensors& tensors) override {
    kept[name].clear();
    for (const auto& [key, value] : tensors) kept[name].emplace_back(key, value.clone());
  }
  [[nodiscard]] bool due() override { return ++asked % every == 0; }

  std::map<std::string, NamedTensors> kept;
  int every = 1, asked = 0;
};

class Annealing : public testing::Test {
 protected:
  static constexpr std::int64_t steps = 12, chains = 7, at_once = 3;

  [[nodiscard]] at::Tensor walk(Way way, const AnnealingOptions& options) const {
    const State top = machine.independent_sample(Key(91), chains);
    return anneal(
        path, way, chains,
        [&](std::int64_t first, std::int64_t count, const Key& key) {
          if (way == Way::up) return path.base().draw(key, count);
          State part = top;
          for (at::Tensor& layer : part.layers) layer = layer.narrow(0, first, count);
          return part;
        },
        options);
  }

  // Strong weights, or chains that share random numbers would meet at once and hide what was lost.
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:9", "bernoulli:6", at::kDouble), 90, 2.5);
  const AnnealingPath path{uniform_base(machine), {machine}, linear_schedule(steps)};
};

TEST_F(Annealing, StoppedAtAnyStepAndTakenUpGivesTheSameWeights) {
  for (const Way way : {Way::up, Way::down}) {
    const at::Tensor whole = walk(way, {.chains_at_once = at_once, .seed = 92});
    for (const int stop : {1, 5, 12, 13, 30, 36}) {
      MemoryJournal journal;
      journal.every = 1'000'000;  // only what the stop itself keeps
      const AnnealingOptions stopped{.chains_at_once = at_once,
                                     .seed = 92,
                                     .progress =
                                         [&](std::int64_t done, std::int64_t) {
                                           if (done == stop) throw RunFailure("enough");
                                         },
                                     .journal = &journal};
      EXPECT_THROW(static_cast<void>(walk(way, stopped)), RunFailure);
      std::int64_t first = 0;
      const AnnealingOptions again{.chains_at_once = at_once,
                                   .seed = 92,
                                   .progress =
                                       [&](std::int64_t done, std::int64_t) {
                                         if (first == 0) first = done;
                                       },
                                   .journal = &journal};
      EXPECT_TRUE(at::equal(walk(way, again), whole)) << "stopped after " << stop;
      EXPECT_EQ(first, stop == 36 ? 0 : stop + 1) << "work was done again";
    }
  }
}

TEST_F(Annealing, KilledBetweenSavesGoesOnFromTheLast) {
  const at::Tensor whole = walk(Way::up, {.chains_at_once = at_once, .seed = 93});
  MemoryJournal journal;
  journal.every = 5;
  struct Killed {};
  EXPECT_THROW(static_cast<void>(walk(Way::up, {.chains_at_once = at_once,
                                                .seed = 93,
                                                .progress =
                                                    [](std::int64_t done, std::int64_t) {
                                                      if (done == 20) throw Killed();  // which no code can catch
                                                    },
                                                .journal = &journal})),
               Killed);
  ASSERT_FALSE(journal.kept.empty());
  EXPECT_TRUE(at::equal(walk(Way::up, {.chains_at_once = at_once, .seed = 93, .journal = &journal}), whole));
}

TEST_F(Annealing, WhoseKeptWorkIsDamagedBeginsAnew) {
  const AnnealingOptions plain{.chains_at_once = at_once, .seed = 96};
  const at::Tensor whole = walk(Way::up, plain);
  const NamedTensors good = {{"step", at::scalar_tensor(4, at::kLong)},
                             {"log_weights", at::zeros({at_once}, at::kDouble)},
                             {"layer0", at::zeros({at_once, 9}, at::kDouble)},
                             {"layer1", at::zeros({at_once, 6}, at::kDouble)}};
  const auto walk_from = [&](const NamedTensors& kept) {
    MemoryJournal journal;
    journal.kept["ais-0"] = kept;
    AnnealingOptions options = plain;
    options.journal = &journal;
    return walk(Way::up, options);
  };
  ASSERT_FALSE(at::equal(walk_from(good), whole)) << "kept work is not looked at";
  const std::vector<std::pair<std::string, at::Tensor>> damages = {{"step", at::scalar_tensor(-1, at::kLong)},
                                                                   {"step", at::scalar_tensor(13, at::kLong)},
                                                                   {"step", at::zeros({2}, at::kLong)},
                                                                   {"step", at::scalar_tensor(0.5)},
                                                                   {"log_weights", at::zeros({2}, at::kDouble)},
                                                                   {"log_weights", at::zeros({at_once}, at::kLong)},
                                                                   {"layer0", at::zeros({at_once, 8}, at::kDouble)},
                                                                   {"layer0", at::full({at_once, 9}, NAN, at::kDouble)},
                                                                   {"layer1", at::zeros({at_once, 6, 1}, at::kDouble)}};
  for (const auto& [name, damaged] : damages) {
    if (name.starts_with("layer") && name != format("layer{}", path.kept().front())) continue;
    NamedTensors kept = good;
    for (auto& [key, value] : kept)
      if (key == name) value = damaged;
    EXPECT_TRUE(at::equal(walk_from(kept), whole)) << name << " of shape " << damaged.sizes();
  }
  EXPECT_TRUE(at::equal(walk_from({}), whole));
}

TEST_F(Annealing, IsObservedAfterEveryStepOfEveryGroup) {
  std::vector<std::int64_t> seen;
  const auto look = [&](std::int64_t step, const at::Tensor& log_weights) {
    seen.push_back(step);
    EXPECT_LE(log_weights.size(0), at_once);
  };
  static_cast<void>(walk(Way::up, {.chains_at_once = at_once, .observe = look}));
  ASSERT_EQ(seen.size(), 36U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<std::int64_t>(i) % steps + 1);
}

TEST_F(Annealing, OfThreeLayersSumsOutEither) {
  // Covered for bias elsewhere; here: the two ways are different estimates of the same number.
  const BoltzmannMachine deep =
      support::randomized(make_chain({"bernoulli:4", "bernoulli:5", "bernoulli:3"}, at::kDouble), 94);
  const auto estimate = [&](SumOut sum_out) {
    return ais({uniform_base(deep), {deep}, linear_schedule(300), sum_out}, 300, {.seed = 95}).log_z;
  };
  const Estimate odd = estimate(SumOut::odd), even = estimate(SumOut::even);
  const double exact = exact_log_z(deep).value;
  EXPECT_NE(odd.value, even.value);
  EXPECT_NEAR(odd.value, exact, 0.1);
  EXPECT_NEAR(even.value, exact, 0.1);
}

}  // namespace
}  // namespace harmonium
