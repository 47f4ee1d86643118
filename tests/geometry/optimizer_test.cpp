#include "harmonium/geometry/optimizer.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

const std::vector<ParameterGroup>& three_kinds() {
  static const std::vector<ParameterGroup> groups = {
      {.names = {"w", "slow"}, .kind = ParameterKind::weights, .rate = 0.5},
      {.names = {"b"}, .kind = ParameterKind::bias},
      {.names = {"precision"}, .kind = ParameterKind::other, .rate = 2}};
  return groups;
}

TEST(Optimizer, MovesWeightsAtThePairwiseRateAndAllElseAtTheUnaryTimesTheRateOfTheGroup) {
  const at::Tensor one = at::ones({1});
  const std::unique_ptr<Optimizer> plain = make_optimizer("sgd", three_kinds(), {});
  const Direction found = plain->direction(Moments{{"precision", one}, {"b", one}, {"w", one}}, 0);
  EXPECT_EQ(found.pairwise.entries().size(), 1U) << "'slow' is in no gradient, and so in no direction";
  EXPECT_EQ(found.pairwise["w"].item<double>(), 0.5);
  EXPECT_EQ(found.unary["b"].item<double>(), 1);
  EXPECT_EQ(found.unary["precision"].item<double>(), 2);
  EXPECT_FALSE(plain->observes_at(0));
  EXPECT_TRUE(plain->state().empty());
}

TEST(Optimizer, OfAMachineHasEveryParameterInOneGroup) {
  for (const support::MachineCase& one : support::all_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    std::size_t grouped = 0;
    for (const ParameterGroup& group : groups_of(machine.topology()))
      for (const std::string& name : group.names) {
        EXPECT_TRUE(machine.parameters().contains(name));
        EXPECT_EQ(name.ends_with(".weights"), group.kind == ParameterKind::weights);
        EXPECT_EQ(name.ends_with(".bias"), group.kind == ParameterKind::bias);
        ++grouped;
      }
    EXPECT_EQ(grouped, machine.parameters().entries().size());
  }
}

TEST(Optimizer, NamesThoseThereAreWhenItDoesNotKnowOne) {
  support::expect_mentions(support::message_of([] { (void)make_optimizer("lamb", three_kinds(), {}); }),
                           {"lamb", "adam", "sgd"});
}

}  // namespace
}  // namespace harmonium
