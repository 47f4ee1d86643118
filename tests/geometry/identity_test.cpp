#include "harmonium/geometry/identity.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(Identity, LeavesEveryGradientAsItIs) {
  for (const support::MachineCase& one : support::all_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    Identity metric(machine.topology(), machine.parameters());
    metric.observe({machine.parameters(), machine.parameters(), {}});
    metric.refit();
    const Moments& gradient = machine.parameters();  // any numbers of the right shape
    const Direction direction = metric.solve(gradient);
    EXPECT_TRUE(support::identical(direction.total(), gradient));
    // Biases move with the unary rate, weights with the pairwise one.
    for (const auto& [name, value] : direction.pairwise.entries()) {
      EXPECT_EQ(direction.unary.contains(name), !name.ends_with(".weights"));
      EXPECT_TRUE(at::equal(value, name.ends_with(".weights") ? gradient[name] : at::zeros_like(value)));
    }
    EXPECT_TRUE(at::equal(metric.to_dense(), at::eye(gradient.dimension(), at::kDouble)));
    EXPECT_TRUE(metric.state().empty());
  }
}

TEST(MakeMetric, KnowsEveryNameItLists) {
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2");
  for (const MetricType& type : metrics()) {
    EXPECT_EQ(make_metric(type.name, machine.topology(), machine.parameters())->name(), type.name);
    EXPECT_FALSE(type.help.empty());
    EXPECT_TRUE(type.rates.bias > 0 && type.rates.weights > 0 && type.label_rates.weights > 0) << type.name;
  }
}

TEST(MakeMetric, NamesTheOptimizersThereAreWhenItDoesNotKnowOne) {
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2");
  support::expect_mentions(
      support::message_of([&] { static_cast<void>(make_metric("adam", machine.topology(), machine.parameters())); }),
      {"adam", "centering", "sgd"});
}

}  // namespace
}  // namespace harmonium
