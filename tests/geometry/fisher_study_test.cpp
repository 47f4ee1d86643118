#include "harmonium/geometry/fisher_study.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harmonium/geometry/diagonal.h"
#include "harmonium/geometry/fang.h"
#include "harmonium/geometry/low_rank.h"
#include "tests/geometry/support.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

const StudyProgress silent = [](const std::string&, std::int64_t, std::int64_t) {};

BoltzmannMachine studied() { return support::randomized(make_rbm("bernoulli:5", "bernoulli:3", at::kDouble), 120); }

double divergence_of(const std::vector<Approximation>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Approximation::name);
  EXPECT_NE(found, all.end()) << name;
  return found == all.end() ? 0 : found->divergence;
}

// ½[tr(Ĝ⁻¹G) − log det(Ĝ⁻¹G) − dim] from whole matrices.
double dense_divergence(const at::Tensor& approximation, const at::Tensor& fisher) {
  const at::Tensor ratio = at::linalg_solve(approximation, fisher);
  return 0.5 *
         (ratio.trace() - std::get<1>(at::linalg_slogdet(ratio)) - static_cast<double>(fisher.size(0))).item<double>();
}

TEST(FisherStudy, GivesTheDivergenceOfTheMatricesTheMetricsStandFor) {
  const BoltzmannMachine machine = studied();
  const auto statistics = enumerated(machine);
  const FisherStudyOptions options{.damping = 1e-3, .ranks = {2, 7}, .random_draws = 3, .seed = 4};
  const auto all = compare_approximations(*statistics, machine.topology(), options, silent);
  at::Tensor fisher = statistics->covariance().clone();
  fisher.diagonal().add_(options.damping);
  const auto expected = [&](auto&& metric) {
    metric.observe({statistics->mean(), statistics->mean(), statistics});
    metric.refit();
    return dense_divergence(metric.to_dense(), fisher);
  };
  const Moments& shape = machine.parameters();
  MetricOptions metric{.damping = options.damping, .centered_damping = false, .statistics_every = 1};
  EXPECT_NEAR(divergence_of(all, "diagonal"), expected(Diagonal(machine.topology(), shape, metric)), 1e-9);
  EXPECT_NEAR(divergence_of(all, "fang"), expected(Fang(machine.topology(), shape, metric)), 1e-9);
  for (const std::int64_t rank : {2, 7}) {
    metric.rank = rank;
    EXPECT_NEAR(divergence_of(all, "low_rank:" + std::to_string(rank)),
                expected(LowRank(machine.topology(), shape, metric)), 1e-9);
  }
  // The diagonal's in closed form: ½(Σ log G_ii − log det G).
  EXPECT_NEAR(divergence_of(all, "diagonal"),
              0.5 * (fisher.diagonal().log().sum() - std::get<1>(at::linalg_slogdet(fisher))).item<double>(), 1e-9);
  const auto control = std::ranges::find(all, "fang_random", &Approximation::name);
  EXPECT_LT(control->low, control->divergence);
  EXPECT_LT(control->divergence, control->high);
  EXPECT_TRUE(std::ranges::is_sorted(all, std::greater<>(), &Approximation::divergence));
}

TEST(FisherStudy, OrdersApproximationsAsTheirStructureNestsThem) {
  const BoltzmannMachine machine = studied();
  const auto all = compare_approximations(*enumerated(machine), machine.topology(), {.ranks = {2, 100}}, silent);
  EXPECT_GT(divergence_of(all, "isotropic"), divergence_of(all, "diagonal"));
  EXPECT_GT(divergence_of(all, "isotropic"), divergence_of(all, "low_rank:2"));
  EXPECT_GT(divergence_of(all, "diagonal"), divergence_of(all, "block_diagonal"));
  EXPECT_GT(divergence_of(all, "centering"), divergence_of(all, "fang"));
  EXPECT_GE(divergence_of(all, "fang"), 0);
  EXPECT_EQ(std::ranges::count(all, "low_rank:100", &Approximation::name), 0) << "a rank beyond the dimension";
}

// Differences between approximations from draws against those of the enumeration. An interval of 95 % stretched to 5.5
// standard errors has a false-alarm rate of 4e-8; fitting to 20 000 draws adds about dim²/draws = 0.03 nats at most.
TEST(FisherStudy, FromDrawsFindsTheDifferencesOfTheEnumeration) {
  const BoltzmannMachine machine = studied();
  const FisherStudyOptions options{.damping = 1e-3, .ranks = {3}, .random_draws = 1, .seed = 4};
  const auto exact = compare_approximations(*enumerated(machine), machine.topology(), options, silent);
  const auto sampled = compare_approximations(particles_of(machine, 20'000, 121), *particles_of(machine, 4'000, 122),
                                              machine.topology(), machine.parameters(), options, silent);
  for (const Approximation& one : sampled) {
    const double expected = divergence_of(exact, one.name) - divergence_of(exact, "diagonal");
    const double allowed = (one.high - one.low) / 2 / 1.96 * support::allowed_deviations + 0.03;
    EXPECT_NEAR(one.divergence, expected, allowed) << one.name;
  }
  EXPECT_LT(divergence_of(sampled, "fang"), 0) << "better than the diagonal";
}

// dCov(x, y) along an eigenvector, by differences of exact moments.
TEST(FisherStudy, TellsChangesOfCovariancesFromChangesOfMeans) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("bernoulli:3", 3, "bernoulli:2", at::kDouble), 123);
  const auto statistics = enumerated(machine);
  const Eigenpairs pairs = statistics->leading_eigenpairs(4);
  const at::Tensor fractions = covariance_fractions(machine.topology(), statistics->mean(), pairs.vectors);
  constexpr double step = 1e-5;
  for (std::int64_t k = 0; k < 4; ++k) {
    const auto moments_at = [&](double change) {
      const at::Tensor moved = machine.parameters().flatten() + change * pairs.vectors.select(1, k);
      return exact_fisher(machine.with_parameters(machine.parameters().unflatten(moved))).mean;
    };
    const Moments up = moments_at(step), down = moments_at(-step);
    double between = 0;
    for (const EdgeInfo& edge : machine.topology().edges) {
      const auto covariance = [&](const Moments& s) {
        return s[edge.weights] - at::outer(s[machine.topology().layers[edge.lower].parameters[0]],
                                           s[machine.topology().layers[edge.upper].parameters[0]]);
      };
      between += (covariance(up) - covariance(down)).square().sum().item<double>();
    }
    const Moments change = up - down;
    EXPECT_NEAR(fractions[k].item<double>(), between / dot(change, change), 1e-6);
  }
}

TEST(FisherStudy, SaysWhatToDoWhenTheFisherInformationIsSingular) {
  // A softmax group's columns sum to one, so their covariance is singular without damping.
  const BoltzmannMachine machine = support::randomized(make_rbm("softmax:1x3", "bernoulli:2", at::kDouble), 124);
  support::expect_mentions(
      support::message_of(
          [&] { (void)compare_approximations(*enumerated(machine), machine.topology(), {.damping = 0}, silent); }),
      {"not positive definite", "raise"});
}

// The iteration for large matrices against the whole decomposition.
TEST(DenseStatistics, FindsLeadingEigenpairsOfALargeMatrixByIteration) {
  const BoltzmannMachine shape = make_rbm("bernoulli:100", "bernoulli:60", at::kDouble);
  const std::int64_t dimension = shape.parameters().dimension();
  ASSERT_GT(dimension, 6000) << "as large as makes it iterate";
  // A spectrum that falls by tenths, in a basis of Householder's reflection.
  const at::Tensor values = at::pow(0.9, at::arange(dimension, at::kDouble));
  const at::Tensor w = normal(Key(125), {dimension}, at::kDouble), unit = w / w.norm();
  const at::Tensor scaled = values * unit, along = (unit * scaled).sum();
  // H D H = D − 2 u (D u)ᵀ − 2 (D u) uᵀ + 4 (uᵀ D u) u uᵀ for H = I − 2 u uᵀ.
  at::Tensor matrix = at::diag(values).addr_(unit, scaled, 1, -2).addr_(scaled, unit, 1, -2);
  matrix.addr_(unit, unit, 1, 4 * along.item<double>());
  const DenseStatistics statistics(shape.topology(), shape.parameters(), matrix);
  const Eigenpairs pairs = statistics.leading_eigenpairs(10);
  support::expect_close(pairs.values, values.narrow(0, 0, 10), 1e-9);
  support::expect_close(matrix.mm(pairs.vectors), pairs.vectors * pairs.values, 1e-5);
}

}  // namespace
}  // namespace harmonium
