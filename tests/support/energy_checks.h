// What tests of free-energy models compare with: differences, and quadrature over a square.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harmonium/kernels/random.h"
#include "harmonium/models/free_energy_model.h"

namespace harmonium::support {

inline at::Tensor rows_of_values(std::int64_t inputs) { return 1.5 * normal(Key(77), {5, inputs}, at::kDouble); }

// ∂ total / ∂ target by central differences of the given function, for every element.
inline at::Tensor central_differences(at::Tensor target, const std::function<double()>& total) {
  constexpr double h = 1e-5;
  at::Tensor found = at::zeros_like(target), flat = target.view({-1});
  for (std::int64_t i = 0; i < flat.size(0); ++i) {
    const double here = flat[i].item<double>();
    flat[i].fill_(here + h);
    const double above = total();
    flat[i].fill_(here - h);
    const double below = total();
    flat[i].fill_(here);
    found.view({-1})[i].fill_((above - below) / (2 * h));
  }
  return found;
}

inline double largest_of(const at::Tensor& difference) { return difference.abs().max().item<double>(); }

// The gradient of log f in v along the path, and in every parameter.
inline void expect_gradients(const FreeEnergyModel& model, const Moments& theta) {
  const at::Tensor v = rows_of_values(model.inputs());
  for (const double beta : {0.0, 0.3, 1.0}) {
    at::Tensor moved = v.clone();
    const at::Tensor expected =
        central_differences(moved, [&] { return model.log_f(moved, theta, beta).sum().item<double>(); });
    EXPECT_LT(largest_of(model.score(v, theta, beta) - expected), 1e-7) << beta;
  }
  const Moments found = model.moments(v, theta);
  ASSERT_EQ(found.entries().size(), theta.entries().size());
  for (std::size_t i = 0; i < theta.entries().size(); ++i) {
    const auto& [name, value] = theta.entries()[i];
    EXPECT_EQ(found.entries()[i].first, name);
    const at::Tensor expected = central_differences(value, [&] { return model.log_f(v, theta).mean().item<double>(); });
    EXPECT_LT(largest_of(found[name] - expected), 1e-7) << name;
  }
}

// Where the means of hidden units do not move with the row, the precision that it implies is the curvature of log f: by
// differences of the score.
inline void expect_curvature(const FreeEnergyModel& model, const Moments& theta, const at::Tensor& v,
                             double tolerance = 1e-6) {
  constexpr double h = 1e-4;
  const at::Tensor steps = h * at::eye(model.inputs(), at::kDouble);
  const at::Tensor expected = (model.score(v - steps, theta) - model.score(v + steps, theta)) / (2 * h);
  EXPECT_LT(largest_of(model.precision_given(v, theta) - expected), tolerance);
}

inline void expect_grouped_once(const FreeEnergyModel& model, const Moments& theta) {
  std::size_t grouped = 0;
  for (const ParameterGroup& group : model.groups())
    for (const std::string& name : group.names) grouped += theta.contains(name) ? 1 : 100;
  EXPECT_EQ(grouped, theta.entries().size());
}

// Points of a square of two values, by the trapezoidal rule.
struct Square {
  double reach = 14;
  std::int64_t points = 701;

  [[nodiscard]] at::Tensor grid() const {
    const at::Tensor axis = at::linspace(-reach, reach, points, at::kDouble);
    return at::stack({axis.repeat_interleave(points), axis.repeat({points})}, 1);
  }
  [[nodiscard]] double log_cell() const { return 2 * std::log(2 * reach / static_cast<double>(points - 1)); }
  [[nodiscard]] double log_integral(const FreeEnergyModel& model, const Moments& theta, double beta = 1) const {
    return at::logsumexp(model.log_f(grid(), theta, beta), 0).item<double>() + log_cell();
  }
  // KL(teacher ‖ student) of normalized log-densities on the grid.
  [[nodiscard]] double divergence(const at::Tensor& teacher, const at::Tensor& student) const {
    return ((teacher + log_cell()).exp() * (teacher - student)).sum().item<double>();
  }
};

// Rows whose means, squares and products should be those of f_β: the largest of five deviations from quadrature, in
// standard errors.
inline double deviation_of_moments(const at::Tensor& rows, const FreeEnergyModel& model, const Moments& theta,
                                   double beta = 1, const Square& square = {}) {
  const at::Tensor grid = square.grid(), p = at::softmax(model.log_f(grid, theta, beta), 0);
  const auto statistics = [](const at::Tensor& v) { return at::cat({v, v.square(), v.prod(1, true)}, 1); };
  const at::Tensor found = statistics(rows), expected = p.matmul(statistics(grid));
  return largest_of((found.mean(0) - expected) / (found.std(0) / std::sqrt(static_cast<double>(rows.size(0)))));
}

// Draws of f_β of two values: a cell of the grid, and a place in it.
inline at::Tensor draws_by_quadrature(const FreeEnergyModel& model, const Moments& theta, double beta, const Key& key,
                                      std::int64_t rows, const Square& square = {}) {
  const at::Tensor grid = square.grid();
  const at::Tensor cumulative = at::softmax(model.log_f(grid, theta, beta), 0).cumsum(0);
  const at::Tensor cells =
      at::searchsorted(cumulative, uniform(key.fold_in(0), {rows}, at::kDouble)).clamp_max(grid.size(0) - 1);
  return grid.index_select(0, cells) +
         std::exp(square.log_cell() / 2) * (uniform(key.fold_in(1), {rows, 2}, at::kDouble) - 0.5);
}

}  // namespace harmonium::support
