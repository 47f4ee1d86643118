// What every metric promises, on every machine: solve() inverts the matrix that to_dense() shows.
#include <gtest/gtest.h>

#include "harmonium/geometry/centering.h"
#include "harmonium/geometry/dense_statistics.h"
#include "harmonium/geometry/fang.h"
#include "harmonium/geometry/particle_statistics.h"
#include "tests/geometry/support.h"

namespace harmonium {
namespace {

using support::expect_close;

using Case = std::tuple<std::string, support::MachineCase>;

class EveryMetric : public testing::TestWithParam<Case> {
 protected:
  const BoltzmannMachine machine = std::get<1>(GetParam()).make();
  // Enough conjugate-gradient steps to finish; a rank that leaves a rest.
  const MetricOptions options{
      .damping = 1e-2, .statistics_every = 1, .refit_every = 1, .rank = 3, .iterations = 400, .seed = 5};

  [[nodiscard]] std::unique_ptr<Metric> fresh() const {
    return make_metric(std::get<0>(GetParam()), machine.topology(), machine.parameters(), options);
  }
  [[nodiscard]] double tolerance() const { return std::get<0>(GetParam()) == "metric_free" ? 1e-7 : 1e-10; }

  void expect_solves(Metric& metric, const std::shared_ptr<const ModelStatistics>& statistics) const {
    const Moments model = statistics->mean(), data = random_like(machine.parameters(), 71);
    metric.observe({data, model, statistics});
    metric.refit();
    const Moments gradient = random_like(machine.parameters(), 72);
    const at::Tensor dense = metric.to_dense();
    ASSERT_EQ(dense.sizes(), at::IntArrayRef({gradient.dimension(), gradient.dimension()}));
    expect_close(dense, dense.t(), 1e-13);
    const at::Tensor solved = metric.solve(gradient).total().flatten();
    expect_close(at::linalg_inv(dense).mv(gradient.flatten()), solved, tolerance());
    const auto [sign, log_det] = at::linalg_slogdet(dense);
    EXPECT_EQ(sign.item<double>(), 1);
    EXPECT_NEAR(metric.log_det(), log_det.item<double>(), 1e-9);
    EXPECT_TRUE(metric.take_notes().empty());
  }
};

TEST_P(EveryMetric, SolvesTheDenseSystemItStandsForWhenFittedToAnEnumeration) {
  const auto metric = fresh();
  expect_solves(*metric, enumerated(machine));
}

TEST_P(EveryMetric, SolvesTheDenseSystemItStandsForWhenFittedToParticles) {
  const auto metric = fresh();
  expect_solves(*metric, particles_of(machine, 60, 73));
}

TEST_P(EveryMetric, ContinuesBitIdenticallyFromASavedState) {
  const auto whole = fresh(), resumed = fresh();
  const Moments data = random_like(machine.parameters(), 74);
  const auto observe = [&](Metric& metric, std::uint64_t seed) {
    const auto statistics = particles_of(machine, 60, seed);
    metric.observe({data, statistics->mean(), statistics});
  };
  for (std::uint64_t i = 0; i < 3; ++i) observe(*whole, 80 + i);
  whole->refit();
  observe(*whole, 84);  // seen, not yet fitted to: the fit must be saved as well
  NamedTensors saved;
  for (const auto& [name, value] : whole->state()) saved.emplace_back(name, value.clone());
  resumed->restore(saved);
  const Moments gradient = random_like(machine.parameters(), 75);
  const std::string name = std::get<0>(GetParam());
  if (name != "metric_free" && name != "exact") {  // these observe and refit before every step
    EXPECT_TRUE(support::identical(whole->solve(gradient).total(), resumed->solve(gradient).total()));
  }
  for (Metric* metric : {whole.get(), resumed.get()}) {
    observe(*metric, 86);
    metric->refit();
  }
  EXPECT_TRUE(support::identical(whole->solve(gradient).total(), resumed->solve(gradient).total()));
}

TEST_P(EveryMetric, LeavesTheGradientItIsGivenAlone) {
  const auto metric = fresh(), again = fresh();
  const auto statistics = enumerated(machine);
  metric->observe({statistics->mean(), statistics->mean(), statistics});
  metric->refit();
  const Moments gradient = random_like(machine.parameters(), 76), before = gradient.clone();
  const Moments first = metric->solve(gradient).total();
  EXPECT_TRUE(support::identical(gradient, before));
  EXPECT_TRUE(support::identical(metric->solve(gradient).total(), first)) << "the second answer differs";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const MetricType& type : metrics())
    for (const support::MachineCase& machine : metric_machines()) cases.emplace_back(type.name, machine);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, EveryMetric, testing::ValuesIn(all_cases()),
                         [](const auto& one) { return std::get<0>(one.param) + std::get<1>(one.param).name; });

// Variances fitted: the matrix has the diagonal of the Fisher information it is fitted to.
TEST(CenteringWithVariances, KeepsEveryResidualVarianceOfTheFisherInformation) {
  for (const support::MachineCase& one : metric_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    const auto statistics = enumerated(machine);
    Centering metric(machine.topology(), machine.parameters(), {.fit_variances = true});
    metric.observe({statistics->mean(), statistics->mean(), statistics});
    // tr(Ĝ⁻¹ G) = dimension holds for maximum-likelihood variances and for no others.
    const at::Tensor fisher = statistics->covariance(at::arange(machine.parameters().dimension(), at::kLong));
    if (!fisher.diagonal().gt(1e-9).all().item<bool>()) continue;
    EXPECT_NEAR(at::linalg_solve(metric.to_dense(), fisher).trace().item<double>(),
                static_cast<double>(machine.parameters().dimension()), 1e-8);
  }
}

}  // namespace
}  // namespace harmonium
