#include "harmonium/geometry/optimizer_by_parts.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "tests/geometry/support.h"
#include "tests/support/belief_net.h"

namespace harmonium {
namespace {

const std::vector<ParameterGroup> net_groups = {{.names = {"net.weights"}, .kind = ParameterKind::weights},
                                                {.names = {"net.bias"}, .kind = ParameterKind::bias}};

Moments net_gradient(std::uint64_t seed) {
  return {{"net.weights", normal(Key(seed).fold_in(1), {3, 2}, at::kDouble)},
          {"net.bias", normal(Key(seed).fold_in(2), {2}, at::kDouble)}};
}

BoltzmannMachine part_machine() { return make_rbm("bernoulli:3", "bernoulli:2", at::kDouble); }

Moments machine_gradient(std::uint64_t seed) {
  return part_machine().parameters().map([&, i = 0](const at::Tensor& value) mutable {
    return normal(Key(seed).fold_in(static_cast<std::uint64_t>(10 + i++)), value.sizes(), at::kDouble);
  });
}

Moments whole_gradient(std::uint64_t seed) {
  Moments all = net_gradient(seed);
  const Moments machine = machine_gradient(seed);
  for (const auto& [name, value] : machine.entries()) all.insert("prior." + name, value);
  return all;
}

// Centering shows whether observations arrive: its direction depends on the means that it has seen.
OptimizerByParts centering_and_adam() {
  const BoltzmannMachine machine = part_machine();
  std::vector<OptimizerByParts::Part> parts;
  parts.push_back({.prefix = "prior.",
                   .optimizer = make_metric("centering", machine.topology(), machine.parameters()),
                   .unary_rate = 0.5,
                   .pairwise_rate = 3});
  parts.push_back({.prefix = "", .optimizer = make_optimizer("adam", net_groups, net_gradient(0))});
  return OptimizerByParts(std::move(parts));
}

Moments seen_moments(double mean) {
  return part_machine().parameters().map([&](const at::Tensor& value) { return at::full_like(value, mean); });
}

TEST(OptimizerByParts, GivesEveryPartItsOwnAndScalesItsRates) {
  OptimizerByParts both = centering_and_adam();
  const BoltzmannMachine machine = part_machine();
  const auto metric = make_metric("centering", machine.topology(), machine.parameters());
  const auto adam = make_optimizer("adam", net_groups, net_gradient(0));
  EXPECT_EQ(both.name(), "centering and adam");
  EXPECT_TRUE(both.wants_observations() && both.wants_moments());
  EXPECT_EQ(both.wants_statistics(), metric->wants_statistics());
  for (std::int64_t update = 0; update < 3; ++update) {
    const Moments data = seen_moments(0.3 + 0.1 * static_cast<double>(update)), model = seen_moments(0.2);
    ASSERT_EQ(both.observes_at(update), metric->observes_at(update));
    if (metric->observes_at(update)) {
      both.observe({data, model, nullptr});
      metric->observe({data, model, nullptr});
    }
    const auto seed = static_cast<std::uint64_t>(update);
    const Direction found = both.direction(whole_gradient(seed), update);
    const Direction of_machine = metric->direction(machine_gradient(seed), update),
                    of_net = adam->direction(net_gradient(seed), update);
    for (const auto& [name, value] : of_machine.unary.entries())
      EXPECT_TRUE(at::allclose(found.unary["prior." + name], 0.5 * value, 0, 1e-14)) << name;
    for (const auto& [name, value] : of_machine.pairwise.entries())
      EXPECT_TRUE(at::allclose(found.pairwise["prior." + name], 3 * value, 0, 1e-14)) << name;
    EXPECT_TRUE(at::equal(found.pairwise["net.weights"], of_net.pairwise["net.weights"]));
    EXPECT_TRUE(at::equal(found.unary["net.bias"], of_net.unary["net.bias"]));
  }
}

TEST(OptimizerByParts, LeavesAlonePartsWithoutAGradient) {
  OptimizerByParts both = centering_and_adam();
  const Direction found = both.direction(net_gradient(1), 0);
  EXPECT_EQ(found.pairwise.entries().size(), 1U);
  EXPECT_EQ(found.unary.entries().size(), 1U);
}

TEST(OptimizerByParts, GoesOnFromTheStatesOfItsParts) {
  OptimizerByParts whole = centering_and_adam(), resumed = centering_and_adam();
  const Moments data = seen_moments(0.4), model = seen_moments(0.1);
  whole.observe({data, model, nullptr});
  (void)whole.direction(whole_gradient(1), 0);
  NamedTensors saved;
  for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
  resumed.restore(saved);
  const Direction one = whole.direction(whole_gradient(2), 1), other = resumed.direction(whole_gradient(2), 1);
  for (const auto& [name, value] : one.pairwise.entries()) EXPECT_TRUE(at::equal(value, other.pairwise[name])) << name;
  for (const auto& [name, value] : one.unary.entries()) EXPECT_TRUE(at::equal(value, other.unary[name])) << name;
}

TEST(OptimizerByParts, RefusesTwoObservers) {
  const BoltzmannMachine machine = part_machine();
  support::expect_mentions(
      support::message_of([&] {
        std::vector<OptimizerByParts::Part> parts;
        for (const char* prefix : {"a.", "b."})
          parts.push_back(
              {.prefix = prefix, .optimizer = make_metric("fang", machine.topology(), machine.parameters())});
        OptimizerByParts(std::move(parts));
      }),
      {"fang", "one"});
}

}  // namespace
}  // namespace harmonium
