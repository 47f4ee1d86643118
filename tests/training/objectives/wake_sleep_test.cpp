#include "harmonium/training/objectives/wake_sleep.h"

#include <gtest/gtest.h>

#include "harmonium/training/make_training.h"
#include "tests/support/belief_net.h"

namespace harmonium {
namespace {

// Rows of four bits of which two kinds are common: 1100 and 0011, and a few of everything.
Dataset two_kinds() {
  std::vector<support::Bits> rows = support::all_bits(4);
  for (int i = 0; i < 42; ++i) rows.push_back(i % 2 == 0 ? support::Bits{1, 1, 0, 0} : support::Bits{0, 0, 1, 1});
  Dataset data{.name = "two kinds", .values = support::to_rows(rows).to(at::kByte)};
  data.labels = data.values.select(1, 0).to(at::kLong);  // the first bit is the class
  return data;
}

double mean_bound(const BeliefNet& net, const Dataset& data) {
  double sum = 0;
  const at::Tensor values = data.values.to(at::kDouble);
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    support::Bits row;
    for (std::int64_t j = 0; j < data.columns(); ++j) row.push_back(values[i][j].item<double>());
    sum += support::exact_bound(net, row);
  }
  return sum / static_cast<double>(data.rows());
}

Training small_tuning(const BeliefNet& net, const std::string& gradient, const std::string& optimizer,
                      const StepOptions& step, const TrainingOptions& options) {
  return make_training(net, BatchStream(two_kinds(), {.batch = 20, .classes = net.labelled() ? 3 : 0}, Key(2)),
                       make_negative_phase(gradient, {.sweeps = 3, .sweeps_final = 10, .particles = 50}), optimizer,
                       step, options);
}

// The bound begins 2.5 nats and more below the negative entropy of the rows, −1.93 nats, and no bound passes that.
TEST(WakeSleep, RaisesTheBoundTowardsTheEntropyOfTheData) {
  const Dataset data = two_kinds();
  const double rare = 1.0 / 58, often = 22.0 / 58;
  const double negative_entropy = 14 * rare * std::log(rare) + 2 * often * std::log(often);
  for (const auto& [gradient, adam] : {std::pair<std::string, bool>{"cd", false}, {"pcd", true}}) {
    SCOPED_TRACE(gradient + (adam ? " adam" : " sgd"));
    const double rate = adam ? 0.02 : 0.2;
    Training tuning = small_tuning(support::small_untied_net(), gradient, adam ? "adam" : "sgd",
                                   {.rate_bias = rate, .rate_weights = rate}, {.updates = 1000, .seed = 5});
    const double before = mean_bound(belief_net_of(tuning), data);
    while (!tuning.finished()) tuning.step();
    const double after = mean_bound(averaged_belief_net(tuning), data);
    EXPECT_LT(before, negative_entropy - 2.5);
    EXPECT_LT(after, negative_entropy);
    EXPECT_GT(after, negative_entropy - 0.35);
  }
}

// The first bit tells the class, so a net that has learnt both has no excuse.
TEST(WakeSleep, LearnsLabelsBesideTheData) {
  Training tuning = small_tuning(support::small_untied_net(true), "cd", "sgd", {.rate_bias = 0.2, .rate_weights = 0.2},
                                 {.updates = 2000, .seed = 5});
  while (!tuning.finished()) tuning.step();
  const Dataset data = two_kinds();
  const at::Tensor found = log_label_probabilities(averaged_belief_net(tuning), data.values.to(at::kDouble)).argmax(1);
  EXPECT_LE(found.slice(0, 16).ne(data.labels.slice(0, 16)).sum().item<std::int64_t>(), 3);
  EXPECT_EQ(found.slice(0, 16, 58).ne(data.labels.slice(0, 16, 58)).sum().item<std::int64_t>(), 0);
}

TEST(WakeSleep, RestoredGoesOnToTheSameBits) {
  for (const std::string gradient : {"cd", "pcd"})
    for (const bool adam : {false, true}) {
      SCOPED_TRACE(gradient + (adam ? " adam" : " sgd"));
      const StepOptions step{.rate_bias = 0.01, .rate_weights = 0.01, .momentum = adam ? 0 : 0.5};
      const TrainingOptions options{.updates = 40, .averaging = 10, .seed = 5};
      const std::string optimizer = adam ? "adam" : "sgd";
      Training whole = small_tuning(support::small_untied_net(true), gradient, optimizer, step, options);
      NamedTensors saved;
      while (!whole.finished()) {
        if (whole.update() == 17)
          for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
        whole.step();
      }
      // From another net, so that nothing is right by luck.
      Training other = small_tuning(untied(support::small_belief_net(true)), gradient, optimizer, step, options);
      other.restore(17, saved);
      while (!other.finished()) other.step();
      EXPECT_TRUE(support::identical(other.parameters(), whole.parameters()));
      EXPECT_TRUE(support::identical(other.averaged(), whole.averaged()));
    }
}

TEST(WakeSleep, DoesNotTouchTheNetItStartsFromAndKeepsTheTopMachineOfBothWaysOne) {
  const BeliefNet net = support::small_untied_net();
  const Moments before = parameters_of(net).clone();
  Training tuning = small_tuning(net, "cd", "sgd", {}, {.updates = 3});
  while (!tuning.finished()) tuning.step();
  EXPECT_TRUE(support::identical(parameters_of(net), before));
  EXPECT_FALSE(support::identical(parameters_of(belief_net_of(tuning)), before));
  EXPECT_TRUE(
      support::identical(belief_net_of(tuning).up.back().parameters(), belief_net_of(tuning).top().parameters()));
  EXPECT_TRUE(support::identical(averaged_belief_net(tuning).up.back().parameters(),
                                 averaged_belief_net(tuning).top().parameters()));
}

TEST(WakeSleep, SaysWhereItDiverges) {
  Training tuning =
      small_tuning(support::small_untied_net(), "cd", "sgd", {.rate_bias = 1e9, .rate_weights = 1e9}, {.updates = 30});
  try {
    while (!tuning.finished()) tuning.step();
    ADD_FAILURE() << "it did not diverge";
  } catch (const RunFailure& failure) {
    support::expect_mentions(failure.what(), {"update 10", "machine1/", "rate_weights"});
  }
}

TEST(WakeSleep, RefusesWhatItCannotTrain) {
  support::expect_mentions(support::message_of([] {
                             (void)small_tuning(MachineStack{support::small_belief_net()[0]}, "cd", "sgd", {}, {});
                           }),
                           {"one machine"});
  support::expect_mentions(
      support::message_of([] { (void)small_tuning(support::small_belief_net(), "exact", "sgd", {}, {}); }),
      {"exact", "cd or pcd"});
}

}  // namespace
}  // namespace harmonium
