#include "harmonium/geometry/particle_statistics.h"

#include <gtest/gtest.h>

#include "harmonium/core/symmetric_product.h"
#include "tests/geometry/support.h"
#include "tests/support/brute_force.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;

class ParticlesOf : public testing::TestWithParam<support::MachineCase> {
 protected:
  ParticlesOf() {
    state = machine.independent_sample(Key(91), 40);
    gibbs(machine, state, Key(92), 3);
    // g of every row, written out.
    std::vector<at::Tensor> rows;
    for (std::int64_t n = 0; n < state.rows(); ++n) {
      support::Configuration x;
      for (const at::Tensor& layer : state.layers) x.push_back(support::numbers(layer[n]));
      rows.push_back(support::expected_statistics(machine, {x}, {1.0}).flatten());
    }
    g = at::stack(rows);
    centered = g - g.mean(0);
    covariance = centered.t().mm(centered) / static_cast<double>(g.size(0));
  }

  [[nodiscard]] ParticleStatistics statistics(const LayerSet& block = {}) const {
    return {machine.topology(), machine.parameters(),
            ParticleSource{.drawn = [this] { return machine.particles(state); },
                           .expected = [this, block] { return machine.particles(state, block); }}};
  }

  const BoltzmannMachine machine = GetParam().make();
  const StatisticIndex index{machine.topology(), machine.parameters()};
  State state;
  at::Tensor g, centered, covariance;
};

TEST_P(ParticlesOf, GiveTheMomentsOfTheirRows) {
  const ParticleStatistics s = statistics();
  expect_close(s.mean().flatten(), g.mean(0), 1e-12);
  expect_close(s.mean_square().flatten(), g.square().mean(0), 1e-12);
  const at::Tensor u = g.index_select(1, index.unary_places());
  expect_close(s.unary_mean(), u.mean(0), 1e-12);
  expect_close(s.unary_second_moment(), u.t().mm(u) / static_cast<double>(u.size(0)), 1e-12);
  for (std::size_t edge = 0; edge < machine.topology().edges.size(); ++edge) {
    const EdgeInfo& info = machine.topology().edges[edge];
    const std::vector<std::int64_t> shape = {index.width(info.lower), index.width(info.upper)};
    const at::Tensor m = g.narrow(1, index.edge_begin(edge), index.edge_count(edge));
    const auto column = [&](const at::Tensor& places) { return u.index_select(1, places.reshape(-1)); };
    const at::Tensor lower =
                         (at::arange(shape[0], at::kLong) + index.unary_begin(info.lower)).unsqueeze(1).expand(shape),
                     upper =
                         (at::arange(shape[1], at::kLong) + index.unary_begin(info.upper)).unsqueeze(0).expand(shape);
    const ProductMoments moments = s.product_moments(edge);
    expect_close(moments.with_lower, (m * column(lower)).mean(0).view(shape), 1e-12);
    expect_close(moments.with_upper, (m * column(upper)).mean(0).view(shape), 1e-12);
    expect_close(moments.square, m.square().mean(0).view(shape), 1e-12);
    const at::Tensor any = at::remainder(3 * lower + 2 * upper, index.unary_size());
    expect_close(s.product_moment_with(edge, any), (m * column(any)).mean(0).view(shape), 1e-12);
  }
}

TEST_P(ParticlesOf, GiveTheCovarianceOfTheirRows) {
  const ParticleStatistics s = statistics();
  const at::Tensor places = at::arange(g.size(1) - 1, -1, -2, at::kLong);
  expect_close(s.covariance(places), covariance.index_select(0, places).index_select(1, places), 1e-12);
  const Moments direction = random_like(machine.parameters(), 93);
  expect_close(s.covariance_product(direction).flatten(), covariance.mv(direction.flatten()), 1e-11);
  expect_close(s.project(direction), g.mv(direction.flatten()), 1e-12);
}

TEST_P(ParticlesOf, GiveTheLeadingEigenpairsOfTheirCovariance) {
  const Eigenpairs pairs = statistics().leading_eigenpairs(3);
  const at::Tensor all = std::get<0>(at::linalg_eigh(covariance)).flip(0);
  expect_close(pairs.values, all.narrow(0, 0, 3), 1e-10);
  expect_close(covariance.mm(pairs.vectors), pairs.vectors * pairs.values, 1e-9);
  expect_close(pairs.vectors.t().mm(pairs.vectors), at::eye(3, at::kDouble), 1e-9);
}

// E[u uᵀ] with a block by its expectation and conditional covariance is the average over all completions of the rows.
TEST_P(ParticlesOf, WithABlockByItsExpectationAverageOverTheBlocksStates) {
  const support::PlainMachine plain(machine);
  for (const LayerSet& block : machine.blocks()) {
    at::Tensor mean = at::zeros({index.unary_size()}, at::kDouble),
               second = at::zeros({index.unary_size(), index.unary_size()}, at::kDouble);
    std::vector<at::Tensor> square(machine.topology().edges.size());
    for (std::int64_t n = 0; n < state.rows(); ++n) {
      support::Configuration x;
      for (const at::Tensor& layer : state.layers) x.push_back(support::numbers(layer[n]));
      double unused = 0;
      std::vector<at::Tensor> rows;
      support::Row weights;
      for (const support::Configuration& one : plain.completions(x, block, unused)) {
        rows.push_back(support::expected_statistics(machine, {one}, {1.0}).flatten());
        weights.push_back(plain.log_weight(one));
      }
      const at::Tensor all = at::stack(rows), u = all.index_select(1, index.unary_places()),
                       p = support::to_tensor({support::normalized(weights)});
      mean.add_(p.mm(u)[0] / 40.0);
      second.add_((u * p.t()).t().mm(u) / 40.0);
      for (std::size_t edge = 0; edge < square.size(); ++edge) {
        const at::Tensor m2 = p.mm(all.narrow(1, index.edge_begin(edge), index.edge_count(edge)).square())[0] / 40.0;
        square[edge] = square[edge].defined() ? square[edge] + m2 : m2;
      }
    }
    const ParticleStatistics s = statistics(block);
    expect_close(s.unary_mean(), mean, 1e-10);
    expect_close(s.unary_second_moment(), second, 1e-10);
    for (std::size_t edge = 0; edge < square.size(); ++edge)
      expect_close(s.product_moments(edge).square.reshape(-1), square[edge], 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ParticlesOf, testing::ValuesIn(metric_machines()), support::case_name);

TEST(SymmetricProduct, IsTheProductOfAMatrixWithItself) {
  for (const std::int64_t columns : {1, 7, 255, 256, 300, 1031}) {
    const at::Tensor x = normal(Key(94), {50, columns}, at::kDouble);
    expect_close(symmetric_product(x), x.t().mm(x), 1e-12);
  }
}

}  // namespace
}  // namespace harmonium
