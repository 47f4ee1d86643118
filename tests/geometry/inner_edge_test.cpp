// Metrics of machines with an edge inside a layer: products that are no pairs must not take part.
#include <gtest/gtest.h>

#include "harmonium/geometry/metric.h"
#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/samplers/gibbs.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

class InnerEdgeMetric : public testing::TestWithParam<std::string> {};

TEST_P(InnerEdgeMetric, SolvesWithTheMatrixOfTheStatisticsThatExist) {
  for (const BoltzmannMachine& shape : {make_mrf("bernoulli:5", at::kDouble), make_mrf("softmax:3x2", at::kDouble),
                                        make_semi_restricted("bernoulli:4", "bernoulli:3", at::kDouble),
                                        make_boltzmann("bernoulli:4", "bernoulli:3", {}, at::kDouble)}) {
    const BoltzmannMachine machine = support::randomized(shape, 3);
    State state = machine.independent_sample(Key(4), 400);
    gibbs(machine, state, Key(5), 10);
    auto metric = make_metric(GetParam(), machine.topology(), machine.parameters(), {});
    const auto rows = [&] { return machine.particles(state); };
    const Moments model = machine.moments(state);
    metric->observe({model, model,
                     std::make_shared<ParticleStatistics>(machine.topology(), machine.parameters(),
                                                          ParticleSource{.drawn = rows, .expected = rows})});
    metric->refit();
    Moments gradient = support::randomized(machine.to(at::kDouble), 6).parameters();  // zero where there is no pair
    const Direction direction = metric->solve(gradient);
    Moments both = machine.parameters().zeros_like();
    both.add_some_(direction.unary, 1);
    both.add_some_(direction.pairwise, 1);

    Moments exists = machine.parameters().map([](const at::Tensor& x) { return at::ones_like(x); });
    for (const EdgeInfo& edge : machine.topology().edges) exists[edge.weights] = edge.masked(exists[edge.weights]);
    const at::Tensor places = exists.flatten().nonzero().squeeze(1);
    const at::Tensor dense = metric->to_dense().index_select(0, places).index_select(1, places);
    const at::Tensor expected = at::linalg_solve(dense, gradient.flatten().index_select(0, places));
    support::expect_close(both.flatten().index_select(0, places), expected, 1e-8);
    EXPECT_EQ((both.flatten() * (1 - exists.flatten())).abs().max().item<double>(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, InnerEdgeMetric, testing::Values("fang", "centering", "enhanced", "sgd", "diagonal"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace harmonium
