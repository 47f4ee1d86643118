#include "harmonium/distributions/logistic_mixture.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

at::Tensor raw_of(const std::vector<double>& columns) { return at::tensor(columns, at::kDouble); }

// Two values of two components in six levels: one broad pair, and one with a component beyond the first level and a
// narrow one between two levels.
at::Tensor two_values() { return raw_of({0.3, -0.5, 0.2, 0.9, -1.5, -2, 0.4, 0, -1.4, 0.7, -1, -4.5}); }

at::Tensor all_levels(std::int64_t levels) { return at::arange(levels, at::kDouble) / static_cast<double>(levels - 1); }

// The definition, with plain differences: 1/40 + (K − 1) e^t is the scale.
double by_definition(double level, double levels, const std::vector<double>& weights, const std::vector<double>& places,
                     const std::vector<double>& widths) {
  const auto logistic = [](double z) { return 1 / (1 + std::exp(-z)); };
  double total = 0, sum = 0;
  for (const double each : weights) total += std::exp(each);
  for (std::size_t c = 0; c < weights.size(); ++c) {
    const double mu = (levels - 1) * places[c], s = 1.0 / 40 + (levels - 1) * std::exp(widths[c]);
    const double upto = level == levels - 1 ? 1 : logistic((level + 0.5 - mu) / s),
                 below = level == 0 ? 0 : logistic((level - 0.5 - mu) / s);
    sum += std::exp(weights[c]) / total * (upto - below);
  }
  return sum;
}

TEST(LogisticMixture, SumsToOneAndIsItsDefinition) {
  for (const std::int64_t levels : {2, 6, 256}) {
    SCOPED_TRACE(levels);
    const LogisticMixtureDistribution distribution(2, levels, 2);
    const at::Tensor values = all_levels(levels).unsqueeze(1).expand({levels, 2});
    const at::Tensor p = distribution.log_prob_each(values, two_values()).exp();
    support::expect_close(p.sum(0), at::ones({2}, at::kDouble), 1e-13);
    for (std::int64_t level = 0; level < levels; ++level) {
      const auto x = static_cast<double>(level), k = static_cast<double>(levels);
      EXPECT_NEAR(p[level][0].item<double>(), by_definition(x, k, {0.3, -0.5}, {0.2, 0.9}, {-1.5, -2}), 1e-14);
      EXPECT_NEAR(p[level][1].item<double>(), by_definition(x, k, {0.4, 0}, {-1.4, 0.7}, {-1, -4.5}), 1e-14);
    }
    support::expect_close(distribution.mean(two_values()), (p * values).sum(0), 1e-13);
  }
}

TEST(LogisticMixture, DrawsItsOwnLaw) {
  constexpr std::int64_t levels = 6, count = 100000;
  const LogisticMixtureDistribution distribution(2, levels, 2);
  const at::Tensor p =
      distribution.log_prob_each(all_levels(levels).unsqueeze(1).expand({levels, 2}), two_values()).exp();
  const at::Tensor drawn = distribution.sample(Key(4), two_values().expand({count, 12}));
  EXPECT_EQ(distribution.complaint(drawn), "");
  for (std::int64_t column = 0; column < 2; ++column)  // false alarms 1e-6 each
    support::expect_frequencies(
        support::numbers(at::bincount((drawn.select(1, column) * (levels - 1)).round().to(at::kLong), {}, levels)),
        support::numbers(p.select(1, column)));
  const at::Tensor joint = ((drawn * (levels - 1)).round() - (distribution.mean(two_values()) * (levels - 1)));
  support::expect_mean(joint.select(1, 0) * joint.select(1, 1), at::zeros({}, at::kDouble), "independent");
}

// Hundreds of scales away plain differences of logistic functions are 0: there log P = −|x − μ|/s + ½/s + log(1 −
// e^{−1/s}) to within e^{−|x − μ|/s}.
TEST(LogisticMixture, KeepsItsLogarithmFarInTheTails) {
  const LogisticMixtureDistribution distribution(1, 256, 1);
  for (const double level : {100.0, 200.0, 254.0}) {
    const double t = std::log(0.5 / 255), s = 1.0 / 40 + 0.5;
    const double expected = -level / s + 0.5 / s + std::log1p(-std::exp(-1 / s));
    const at::Tensor value = at::full({1}, level / 255, at::kDouble);
    EXPECT_NEAR(distribution.log_prob(value, raw_of({0, 0, t})).item<double>(), expected, 1e-9);
    EXPECT_NEAR(distribution.log_prob(1 - value, raw_of({0, 1, t})).item<double>(), expected, 1e-9) << "mirrored";
    const at::Tensor single = distribution.log_prob_each(value.to(at::kFloat), raw_of({0, 0, t}).to(at::kFloat));
    EXPECT_NEAR(single.item<double>(), expected, 1e-3) << "in single precision";
  }
  EXPECT_NEAR(distribution.log_prob(at::zeros({1}, at::kDouble), raw_of({0, -9, -3})).item<double>(), 0, 1e-12)
      << "the first level takes in all below";
}

TEST(LogisticMixture, HasTheDerivativeOfDifferences) {
  const LogisticMixtureDistribution distribution(2, 256, 2);
  constexpr double h = 1e-6;
  const auto total = [&](const at::Tensor& value, const at::Tensor& raw) {
    return distribution.log_prob(value, raw).sum().item<double>();
  };
  // Near, at both ends, and hundreds of scales away.
  const at::Tensor far = raw_of({0.3, -0.5, -0.2, -1.5, -6, -20, 0.4, 0, 1.8, 0.1, -5, -6.5});
  for (const at::Tensor& raw : {two_values(), far})
    for (const double level : {0.0, 1.0, 60.0, 254.0, 255.0}) {
      const at::Tensor value = at::full({2}, level / 255, at::kDouble), leaf = raw.clone().requires_grad_();
      distribution.log_prob(value, leaf).sum().backward();
      for (std::int64_t column = 0; column < raw.size(0); ++column) {
        at::Tensor up = raw.clone(), down = raw.clone();
        up[column] += h;
        down[column] -= h;
        const double slope = (total(value, up) - total(value, down)) / (2 * h),
                     found = leaf.grad()[column].item<double>();
        EXPECT_NEAR(found, slope, 1e-6 * std::max(1.0, std::abs(slope))) << "level " << level << ", column " << column;
      }
    }
}

TEST(LogisticMixture, IsFiniteWhateverANetPutsOut) {
  const LogisticMixtureDistribution distribution(1, 256, 1);
  for (const double place : {-1e4, 0.0, 1e4})
    for (const double width : {-1e4, 0.0, 1e4})
      for (const double value : {0.0, 0.2, 1.0}) {
        const at::Tensor leaf = raw_of({0, place, width}).to(at::kFloat).requires_grad_();
        const at::Tensor log_p = distribution.log_prob(at::full({1}, value), leaf);
        log_p.backward();
        EXPECT_TRUE(log_p.isfinite().all().item<bool>() && leaf.grad().isfinite().all().item<bool>())
            << place << " " << width << " " << value;
        EXPECT_LE(log_p.item<double>(), 0);
      }
}

TEST(LogisticMixture, BeginsNearTheMeansAndSaysWhatIsNoLevel) {
  const LogisticMixtureDistribution distribution(3, 17);
  const at::Tensor means = raw_of({0.25, 0.5, 0.75}), raw = distribution.raw_of_means(means);
  EXPECT_EQ(raw.size(0), distribution.raw_width());
  support::expect_close(distribution.mean(raw), means, 0.03);  // the ends of the range pull inwards
  EXPECT_EQ(distribution.spec(), "logistic_mixture:3x17:5");
  EXPECT_EQ(make_distribution("logistic_mixture:3x17")->spec(), distribution.spec());
  EXPECT_EQ(distribution.of_one_variable()->spec(), "logistic_mixture:1x17:5");
  EXPECT_EQ(make_distribution("logistic_mixture:2x4:1")->raw_variables(),
            (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(distribution.complaint(raw_of({0, 0.5, 1}).unsqueeze(0)), "");
  support::expect_mentions(distribution.complaint(raw_of({0, 0.51, 1}).unsqueeze(0)), {"row 0", "column 1", "0.51"});
  support::expect_mentions(distribution.complaint(raw_of({0, 0.5, 17.0 / 16}).unsqueeze(0)), {"column 2"});
  EXPECT_NE(distribution.complaint(raw_of({0, 0.5, std::nan("")}).unsqueeze(0)), "");
  using support::message_of;
  support::expect_mentions(message_of([] { (void)make_distribution("logistic_mixture:7"); }), {"NxK"});
  support::expect_mentions(message_of([] { (void)make_distribution("logistic_mixture:7x1"); }), {"levels"});
  support::expect_mentions(message_of([] { (void)make_distribution("logistic_mixture:7x4:0"); }), {"positive"});
}

}  // namespace
}  // namespace harmonium
