// What every unit type promises, checked against sums over all its values (for continuous units, a fine grid).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonium/kernels/random.h"
#include "harmonium/units/unit.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::Points;
using support::Row;

constexpr std::int64_t contract_rows = 5;

class UnitContract : public testing::TestWithParam<std::string> {
 protected:
  UnitContract() : unit(make_unit(GetParam())), parameters(unit->neutral_parameters(at::kDouble)) {
    const at::Tensor bias = normal(Key(1), {unit->width()}, at::kDouble);
    const std::vector<std::string> names = unit->parameter_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Key key = Key(2 + i * 1000);
      parameters[i] = i == 0                              ? bias
                      : names[i].starts_with("precision") ? 0.7 + 1.3 * uniform(key, {unit->width()}, at::kDouble)
                                                          : 0.5 * normal(key, {unit->width()}, at::kDouble);
    }
    field = 1.5 * normal(Key(3), {contract_rows, unit->width()}, at::kDouble);  // every row has its own
  }

  // Whether sums over all states are integrals.
  [[nodiscard]] bool continuous() const {
    return unit->support() == Unit::Support::reals || unit->support() == Unit::Support::nonnegative;
  }

  [[nodiscard]] Points points() const {
    at::Tensor precision;
    const std::vector<std::string> names = unit->parameter_names();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i].starts_with("precision"))
        precision = precision.defined() ? at::minimum(precision, parameters[i]) : parameters[i];
    return support::points_of(GetParam(), Row(static_cast<std::size_t>(unit->width()), 6.0),
                              precision.defined() ? support::numbers(precision) : Row());
  }

  // θ·t(x) with the field in place of the bias.
  [[nodiscard]] double potential(const Row& x, const Row& f) const {
    const std::vector<Row> statistics = support::statistics_of(GetParam(), x);
    double total = 0;
    for (std::size_t k = 0; k < statistics.size(); ++k)
      for (std::size_t i = 0; i < x.size(); ++i)
        total += (k == 0 ? f[i] : parameters[k][static_cast<std::int64_t>(i)].item<double>()) * statistics[k][i];
    return total;
  }
  // What a point counts for: its measure and the cell it stands for.
  [[nodiscard]] double log_base(const Row& x) const {
    return support::log_measure_of(GetParam(), x) + support::log_cell(GetParam(), x);
  }

  // t(x) of rows by the formulas of the test.
  [[nodiscard]] std::vector<at::Tensor> plain_statistics(const at::Tensor& rows) const {
    std::vector<std::vector<Row>> all(parameters.size());
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
      const std::vector<Row> one = support::statistics_of(GetParam(), support::numbers(rows[row]));
      for (std::size_t i = 0; i < one.size(); ++i) all.at(i).push_back(one[i]);
    }
    std::vector<at::Tensor> result;
    for (const std::vector<Row>& one : all) result.push_back(support::to_tensor(one));
    return result;
  }

  [[nodiscard]] Row log_weights(std::int64_t row) const {
    const Points values = points();
    const Row f = support::numbers(field[row]);
    Row result;
    for (const Row& x : values.rows) result.push_back(potential(x, f) + log_base(x) + values.log_measure);
    return result;
  }

  std::shared_ptr<const Unit> unit;
  Unit::Parameters parameters;
  at::Tensor field;
};

TEST_P(UnitContract, LogPartitionIsTheSumOverAllStates) {
  Row expected;
  for (std::int64_t row = 0; row < contract_rows; ++row) expected.push_back(support::log_sum_exp(log_weights(row)));
  expect_close(unit->log_partition(field, parameters), support::to_tensor({expected})[0], 1e-12);
}

TEST_P(UnitContract, PairLogPartitionsAreThoseOfAllSums) {
  const std::int64_t width = unit->width();
  const at::Tensor first = normal(Key(91), {5, width}, at::kDouble), second = normal(Key(92), {3, width}, at::kDouble);
  for (const double scale : {1.0, 400.0}) {
    const at::Tensor pairs = unit->pair_log_partitions(scale * first, second, parameters);
    ASSERT_EQ(pairs.sizes(), at::IntArrayRef({5, 3}));
    for (std::int64_t a = 0; a < 5; ++a)
      for (std::int64_t b = 0; b < 3; ++b) {
        const double expected =
            unit->log_partition((scale * first[a] + second[b]).unsqueeze(0), parameters).item<double>();
        EXPECT_NEAR(pairs[a][b].item<double>(), expected, 1e-11 * (1 + std::abs(expected)));
      }
  }
}

TEST_P(UnitContract, MeanIsTheAverageOverAllStates) {
  const at::Tensor values = support::to_tensor(points().rows);
  std::vector<at::Tensor> expected;
  for (std::int64_t row = 0; row < contract_rows; ++row)
    expected.push_back(support::to_tensor({support::normalized(log_weights(row))}).mm(values));
  expect_close(unit->mean(field, parameters), at::cat(expected), 1e-12);
}

TEST_P(UnitContract, ModeIsAMostProbableState) {
  const at::Tensor mode = unit->mode(field, parameters);
  ASSERT_EQ(mode.sizes(), field.sizes());
  EXPECT_EQ(unit->complaint(mode), "");
  // An atom is more probable than any point of a density: spike_slab has a test of its own.
  if (support::of_type(GetParam(), "spike_slab")) return;
  const auto height = [&](const Row& x, const Row& f) {
    return potential(x, f) + support::log_measure_of(GetParam(), x);
  };
  const Points all = points();
  for (std::int64_t row = 0; row < contract_rows; ++row) {
    const Row f = support::numbers(field[row]);
    double best = -std::numeric_limits<double>::infinity();
    for (const Row& x : all.rows) best = std::max(best, height(x, f));
    // A grid only comes near the highest point of a continuous density, from below.
    EXPECT_GE(height(support::numbers(mode[row]), f), best - 1e-12);
    if (!continuous()) {
      EXPECT_LE(height(support::numbers(mode[row]), f), best + 1e-12);
    }
  }
}

// Cov(t | field) added over rows with weights that need not sum to one, and E[x² | field].
TEST_P(UnitContract, ConditionalCovarianceAndSquareAreAveragesOverAllStates) {
  const at::Tensor values = support::to_tensor(points().rows), statistics = at::cat(unit->statistics(values), 1);
  const at::Tensor weights = 0.2 + uniform(Key(9), {contract_rows}, at::kDouble);
  at::Tensor weighted = at::zeros({statistics.size(1), statistics.size(1)}, at::kDouble), plain = weighted.clone();
  std::vector<at::Tensor> squares, means;
  for (std::int64_t row = 0; row < contract_rows; ++row) {
    const at::Tensor p = support::to_tensor({support::normalized(log_weights(row))});
    means.push_back(p.mm(statistics));
    const at::Tensor centered = statistics - means.back(), covariance = (centered * p.t()).t().mm(centered);
    weighted.add_(weights[row] * covariance);
    plain.add_(covariance / static_cast<double>(contract_rows));
    squares.push_back(p.mm(values * values));
  }
  expect_close(unit->conditional_covariance(field, parameters, weights), weighted, 1e-11);
  expect_close(unit->conditional_covariance(field, parameters, {}), plain, 1e-11);
  expect_close(unit->expected_square(field, parameters), at::cat(squares), 1e-11);
  expect_close(at::cat(unit->expected_statistics(field, parameters), 1), at::cat(means), 1e-11);
  EXPECT_EQ(unit->indicator(), at::equal(values, values * values));
}

TEST_P(UnitContract, EntropyIsMinusTheAverageLogProbability) {
  const Points values = points();
  Row expected;
  for (std::int64_t row = 0; row < contract_rows; ++row) {
    expected.push_back(0);
    const Row p = support::normalized(log_weights(row));
    for (std::size_t n = 0; n < p.size(); ++n)
      if (p[n] > 0) expected.back() -= p[n] * (std::log(p[n]) - values.log_measure - log_base(values.rows[n]));
  }
  expect_close(unit->entropy(field, parameters), support::to_tensor({expected})[0], 1e-11);
}

TEST_P(UnitContract, LogPotentialIsTheProductOfParametersAndStatistics) {
  const Points values = points();
  const Row bias = support::numbers(parameters[0]);
  Row expected, factors;
  for (const Row& x : values.rows) {
    expected.push_back(potential(x, bias));
    factors.push_back(expected.back() + support::log_measure_of(GetParam(), x));
  }
  const at::Tensor all = support::to_tensor(values.rows);
  expect_close(unit->log_potential(all, parameters), support::to_tensor({expected})[0], 1e-12);
  expect_close(unit->log_factor(all, parameters), support::to_tensor({factors})[0], 1e-12);
}

TEST_P(UnitContract, MeanIsTheSlopeOfTheLogPartition) {
  constexpr double step = 1e-5;  // truncation about 1e-11, rounding about 1e-10
  std::vector<at::Tensor> slopes;
  for (std::int64_t column = 0; column < unit->width(); ++column) {
    at::Tensor shift = at::zeros({unit->width()}, at::kDouble);
    shift[column] = step;
    slopes.push_back((unit->log_partition(field + shift, parameters) - unit->log_partition(field - shift, parameters)) /
                     (2 * step));
  }
  expect_close(unit->mean(field, parameters), at::stack(slopes, 1), 1e-8);
}

TEST_P(UnitContract, ExpectedMomentsAreWeightedAveragesOverAllStates) {
  const at::Tensor weights = at::softmax(normal(Key(4), {contract_rows}, at::kDouble), 0);
  const at::Tensor values = support::to_tensor(points().rows);
  const std::vector<at::Tensor> statistics = plain_statistics(values);
  std::vector<at::Tensor> expected(parameters.size());
  for (std::int64_t row = 0; row < contract_rows; ++row) {
    const at::Tensor p = weights[row] * support::to_tensor({support::normalized(log_weights(row))})[0];
    const auto add = [](at::Tensor& sum, const at::Tensor& term) { sum = sum.defined() ? sum + term : term; };
    for (std::size_t i = 0; i < parameters.size(); ++i) add(expected[i], p.matmul(statistics[i]));
  }
  const auto actual = unit->expected_moments(field, parameters, weights);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i], 1e-12);
  const auto plain = unit->expected_moments(field, parameters, {});
  const auto even =
      unit->expected_moments(field, parameters, at::full({contract_rows}, 1.0 / contract_rows, at::kDouble));
  for (std::size_t i = 0; i < actual.size(); ++i) expect_close(plain[i], even[i], 1e-12, "undefined weights");
}

TEST_P(UnitContract, MomentsAverageTheStatisticsOfTheRows) {
  const at::Tensor state = unit->sample(Key(5), field, parameters);
  const at::Tensor weights = at::softmax(normal(Key(6), {contract_rows}, at::kDouble), 0);
  const auto weighted = unit->moments(state, weights), plain = unit->moments(state, {});
  const std::vector<at::Tensor> statistics = plain_statistics(state);
  ASSERT_EQ(weighted.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor sum = at::zeros({unit->width()}, at::kDouble);
    for (std::int64_t row = 0; row < contract_rows; ++row) sum += weights[row] * statistics[i][row];
    expect_close(weighted[i], sum, 1e-13);
    expect_close(plain[i], statistics[i].mean(0), 1e-13);
  }
}

// Width of the layer comparisons at 5.5 standard errors: false-alarm rate below 1e-6 for each unit type.
TEST_P(UnitContract, SamplesHaveTheExpectedMoments) {
  constexpr std::int64_t draws = 100'000;
  const at::Tensor repeated = field[0].expand({draws, unit->width()}).contiguous();
  const at::Tensor state = unit->sample(Key(7), repeated, parameters);
  ASSERT_EQ(state.sizes(), repeated.sizes());
  const auto sampled = unit->moments(state, {});
  const auto expected = unit->expected_moments(field.narrow(0, 0, 1), parameters, {});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const at::Tensor statistic = unit->statistics(state)[i];
    const at::Tensor variance = (statistic - statistic.mean(0)).square().mean(0);
    const at::Tensor differences = (sampled[i] - expected[i]).abs(), errors = (variance / draws).sqrt();
    EXPECT_TRUE(differences.le(5.5 * errors).all().item<bool>()) << "statistic " << i << "\n" << differences / errors;
  }
}

TEST_P(UnitContract, ParametersOfMomentsHaveThoseMoments) {
  const auto moments = unit->expected_moments(field.narrow(0, 0, 1), parameters, {});
  const auto recovered = unit->parameters_of(moments, 0);
  ASSERT_EQ(recovered.size(), parameters.size());
  const auto again = unit->expected_moments(recovered[0].unsqueeze(0), recovered, {});
  for (std::size_t i = 0; i < moments.size(); ++i) expect_close(again[i], moments[i], 1e-11);
}

TEST_P(UnitContract, SmoothedParametersAreFiniteEvenForCertainData) {
  const at::Tensor constant = unit->sample(Key(8), field.narrow(0, 0, 1), parameters).expand({3, unit->width()});
  for (const at::Tensor& value : unit->parameters_of(unit->moments(constant, {}), 1e-3))
    EXPECT_TRUE(at::isfinite(value).all().item<bool>()) << value;
}

TEST_P(UnitContract, ItsOwnSamplesAndMeansAreAcceptable) {
  EXPECT_EQ(unit->complaint(unit->sample(Key(9), field, parameters)), "");
  EXPECT_EQ(unit->complaint(unit->mean(field, parameters)), "");
}

TEST_P(UnitContract, SamplesDependOnTheKeyAlone) {
  const at::Tensor first = unit->sample(Key(10), field, parameters);
  EXPECT_TRUE(at::equal(first, unit->sample(Key(10), field, parameters)));
  const at::Tensor wide = field.repeat({100, 1});
  EXPECT_FALSE(at::equal(unit->sample(Key(10), wide, parameters), unit->sample(Key(11), wide, parameters)));
  EXPECT_TRUE(at::equal(first, unit->sample(Key(10), wide, parameters).narrow(0, 0, contract_rows)))
      << "a row's draw must not depend on the rows that follow";
}

TEST_P(UnitContract, NeutralParametersKnowNothing) {
  const auto neutral = unit->neutral_parameters(at::kFloat);
  ASSERT_EQ(neutral.size(), unit->parameter_names().size());
  EXPECT_EQ(unit->parameter_names()[0], "bias");
  for (const at::Tensor& value : neutral) {
    EXPECT_EQ(value.scalar_type(), at::kFloat);
    EXPECT_EQ(value.sizes(), at::IntArrayRef({unit->width()}));
  }
  EXPECT_EQ(neutral[0].count_nonzero().item<std::int64_t>(), 0);
  for (std::size_t i = 0; i < neutral.size(); ++i)
    if (unit->parameter_names()[i].starts_with("precision")) {
      EXPECT_TRUE(at::equal(neutral[i], at::ones_like(neutral[i])));
    }
}

TEST_P(UnitContract, SpecRoundTrips) {
  EXPECT_EQ(unit->spec(), GetParam());
  EXPECT_EQ(make_unit(unit->spec())->width(), unit->width());
}

TEST_P(UnitContract, FloatAgreesWithDouble) {
  Unit::Parameters single;
  for (const at::Tensor& value : parameters) single.push_back(value.to(at::kFloat));
  const at::Tensor f = field.to(at::kFloat);
  EXPECT_EQ(unit->mean(f, single).scalar_type(), at::kFloat);
  EXPECT_EQ(unit->sample(Key(12), f, single).scalar_type(), at::kFloat);
  EXPECT_EQ(unit->log_partition(f, single).scalar_type(), at::kDouble);
  EXPECT_EQ(unit->entropy(f, single).scalar_type(), at::kDouble);
  EXPECT_EQ(unit->log_potential(f, single).scalar_type(), at::kDouble);
  expect_close(unit->mean(f, single), unit->mean(field, parameters), 1e-6);
  expect_close(unit->log_partition(f, single), unit->log_partition(field, parameters), 1e-6);
  expect_close(unit->entropy(f, single), unit->entropy(field, parameters), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Types, UnitContract,
                         testing::Values("bernoulli:3", "softmax:2x3", "softmax:1x4", "gaussian:2", "cardinality:4<=2",
                                         "cardinality:5<=1", "pooled:2x3", "pooled:1x1", "or_pooled:2x2",
                                         "or_pooled:1x3", "stepped:2x3", "poisson:1", "relu:1", "drelu:1",
                                         "spike_slab:1", "spike_slab:1x2"),
                         support::spec_name);

}  // namespace
}  // namespace harmonium
