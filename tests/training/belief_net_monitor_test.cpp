#include "harmonium/training/belief_net_monitor.h"

#include <gtest/gtest.h>

#include "tests/support/belief_net.h"

namespace harmonium {
namespace {

Dataset bits_with_labels() {
  return {.name = "bits",
          .values = support::to_rows(support::all_bits(4)).to(at::kByte),
          .labels = at::remainder(at::arange(16, at::kLong), 3)};
}

TEST(BeliefNetMonitor, MeasuresWhatItSays) {
  const BeliefNet net = support::small_untied_net(true);
  const Dataset data = bits_with_labels();
  const BeliefNetMonitor monitor(data, {}, Binarization::none, 5);
  // A dream of one row, written out.
  const support::Bits visible = {1, 0, 1, 1}, first = {0, 1, 1}, second = {1, 0, 0};
  const auto metrics =
      monitor.measure(net, {support::to_rows({visible}), support::to_rows({first}), support::to_rows({second})});
  EXPECT_NEAR(
      metrics.at("sleep_log_probability"),
      support::log_given_visible(net.up[0], visible, first) + support::log_given_visible(net.up[1], first, second),
      1e-12);
  const at::Tensor values = data.values.to(at::kDouble);
  EXPECT_NEAR(metrics.at("reconstruction_error"),
              (reconstruct(net, values) - values).square().sum().item<double>() / 16, 1e-6);
  const at::Tensor found = log_label_probabilities(net, values).argmax(1);
  EXPECT_DOUBLE_EQ(metrics.at("classification_error"), found.ne(data.labels).to(at::kDouble).mean().item<double>());
  // Between the least and the largest that any draw of the way up gives a row.
  double least = 0, most = 0;
  for (const support::Bits& row : support::all_bits(4)) {
    double lowest = 0, highest = -1e9;
    for (const support::Bits& h : support::all_bits(3))
      for (const support::Bits& g : support::all_bits(3)) {
        const double value =
            support::log_given_hidden(net.down[0], row, h) + support::log_given_hidden(net.down[1], h, g);
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
      }
    least += lowest / 16;
    most += highest / 16;
  }
  EXPECT_GT(metrics.at("wake_log_probability"), least);
  EXPECT_LT(metrics.at("wake_log_probability"), most);
  EXPECT_EQ(monitor.measure(net, {}), monitor.measure(net, {})) << "the same random numbers every time";
  EXPECT_FALSE(monitor.measure(net, {}).contains("sleep_log_probability"));
}

TEST(BeliefNetMonitor, WatchesValidationRowsWhereThereAreAny) {
  const BeliefNet net = support::small_untied_net(true);
  Dataset train = bits_with_labels(), valid = bits_with_labels();
  valid.values = at::zeros_like(valid.values);
  const auto of = [&](const Dataset& a, const Dataset& b) {
    return BeliefNetMonitor(a, b, Binarization::none, 5).measure(net, {}).at("reconstruction_error");
  };
  EXPECT_DOUBLE_EQ(of(train, valid), of(valid, {}));
  EXPECT_NE(of(train, valid), of(train, {}));
  EXPECT_DOUBLE_EQ(belief_net_error(net, train, Binarization::none),
                   BeliefNetMonitor(train, {}, Binarization::none, 1).measure(net, {}).at("classification_error"));
}

}  // namespace
}  // namespace harmonium
