#include "harmonium/models/autoregressive/rnade.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/autoregressive/causality.h"
#include "harmonium/training/loss_gradient.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;

Rnade random_rnade(RnadeStructure structure, double scale = 0.5) {
  Rnade net(std::move(structure), at::kDouble);
  for (std::uint64_t i = 1; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(5).fold_in(i++), value.sizes(), at::kDouble));
  net.parameters()["hidden.scale"].add_(1);
  return net;
}

double number(const at::Tensor& tensor, std::initializer_list<std::int64_t> place) {
  at::Tensor one = tensor;
  for (const std::int64_t i : place) one = one[i];
  return one.item<double>();
}

// log p_k(x) with loops over single numbers: the formulas of the header, nothing kept between places.
double log_p_by_hand(const Rnade& net, const at::Tensor& row, std::int64_t k) {
  const RnadeStructure& shape = net.structure();
  const Moments& p = net.parameters();
  const std::vector<std::int64_t> order = net.order(k);
  const std::int64_t C = shape.components;
  const auto z_of = [&](std::int64_t i) {
    const auto at_i = static_cast<std::size_t>(i);
    const double m = shape.means.empty() ? 0 : shape.means[at_i], s = shape.means.empty() ? 1 : shape.deviations[at_i];
    return (number(row, {i}) - m) / s;
  };
  double total = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::int64_t i = order[place];
    std::vector<double> raw;
    for (std::int64_t c = 0; c < 3 * C; ++c) {
      double sum = number(p["output.bias"], {k, i, c});
      for (std::int64_t unit = 0; unit < shape.hidden; ++unit) {
        double a = number(p["hidden.bias"], {k, unit});
        for (std::size_t before = 0; before < place; ++before)
          a += z_of(order[before]) * number(p["encoder.weights"], {k, order[before], unit});
        sum += std::max(0.0, number(p["hidden.scale"], {k, i}) * a) * number(p["decoder.weights"], {k, i, unit, c});
      }
      raw.push_back(sum);
    }
    double density = 0, weights = 0;
    for (std::int64_t c = 0; c < C; ++c) {
      const double weight = std::exp(raw[static_cast<std::size_t>(c)]),
                   sigma = 0.01 + std::exp(raw[static_cast<std::size_t>(2 * C + c)]),
                   distance = (z_of(i) - raw[static_cast<std::size_t>(C + c)]) / sigma;
      const double kernel = shape.kernel == "gaussian"
                                ? std::exp(-0.5 * distance * distance) / std::sqrt(2 * std::numbers::pi)
                                : 0.5 * std::exp(-std::abs(distance));
      density += weight * kernel / sigma;
      weights += weight;
    }
    total += std::log(density / weights);
    if (!shape.deviations.empty()) total -= std::log(shape.deviations[static_cast<std::size_t>(i)]);
  }
  return total;
}

TEST(Rnade, HasTheDensityOfItsFormulasForEveryOrderAndKernel) {
  const at::Tensor rows = normal(Key(1), {6, 4}, at::kDouble) * 2 + 1;
  for (const char* kernel : {"gaussian", "laplace"}) {
    SCOPED_TRACE(kernel);
    const Rnade net = random_rnade({.inputs = 4,
                                    .hidden = 5,
                                    .components = 3,
                                    .kernel = kernel,
                                    .orders = 3,
                                    .order = "random:4",
                                    .means = {1, -2, 0.5, 3},
                                    .deviations = {2, 0.5, 1, 4}});
    const at::Tensor found = net.log_prob(net.parameters(), rows), mixed = net.log_probabilities(rows);
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
      double mean = 0;
      for (std::int64_t k = 0; k < 3; ++k) {
        const double by_hand = log_p_by_hand(net, rows[row], k);
        EXPECT_NEAR(number(found, {k, row}), by_hand, 1e-10);
        mean += std::exp(by_hand) / 3;
      }
      EXPECT_NEAR(number(mixed, {row}), std::log(mean), 1e-10);
    }
    EXPECT_NE(net.order(0), net.order(1));
  }
}

// Midpoints with a step of 0.06 in units of the net, whose narrowest component is wider than 0.15: the error of a
// Gaussian is below 1e-12. The peaks of a Laplace density cost up to step²/12σ² of its mass.
TEST(Rnade, IntegratesToOneInTheUnitsOfTheData) {
  constexpr double step = 0.06, reach = 15;
  for (const char* kernel : {"gaussian", "laplace"})
    for (const std::int64_t inputs : {1, 2}) {
      SCOPED_TRACE(format("{} {}", kernel, inputs));
      RnadeStructure shape{.inputs = inputs, .hidden = 3, .components = 2, .kernel = kernel};
      shape.means = {3, -1};
      shape.deviations = {0.5, 4};
      shape.means.resize(static_cast<std::size_t>(inputs));
      shape.deviations.resize(static_cast<std::size_t>(inputs));
      const Rnade net = random_rnade(shape, 0.3);
      const at::Tensor axis = at::arange(-reach + step / 2, reach, step, at::kDouble);
      at::Tensor z = axis.unsqueeze(1);
      if (inputs == 2) {
        const std::vector<at::Tensor> mesh = at::meshgrid({axis, axis}, "ij");
        z = at::stack({mesh[0].reshape({-1}), mesh[1].reshape({-1})}, 1);
      }
      const at::Tensor s = at::tensor(shape.deviations, at::kDouble), m = at::tensor(shape.means, at::kDouble);
      double cell = 1;
      for (const double deviation : shape.deviations) cell *= step * deviation;
      EXPECT_NEAR(net.log_probabilities(z * s + m).exp().sum().item<double>() * cell, 1,
                  std::string(kernel) == "gaussian" ? 1e-9 : 1e-3);
    }
}

TEST(Rnade, HasTheGradientOfItsLogLikelihood) {
  Rnade net = random_rnade({.inputs = 3, .hidden = 4, .components = 2, .orders = 2, .order = "random:1"});
  const at::Tensor rows = normal(Key(2), {5, 3}, at::kDouble);
  const RnadeNoise noise = net.draw_noise(Key(3), 5, 0.1, 0.5);
  const auto value = [&](const Moments& parameters) { return net.log_prob(parameters, rows, noise).sum(); };
  const Moments gradient = loss_gradient(net.parameters(), value).gradient;
  constexpr double h = 1e-6;
  for (const auto& [name, entry] : net.parameters().entries()) {
    at::Tensor slopes = at::zeros_like(entry), flat = slopes.view({-1}), moved = entry.view({-1});
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      const double kept = moved[i].item<double>();
      moved[i] = kept + h;
      const double up = value(net.parameters()).item<double>();
      moved[i] = kept - h;
      flat[i] = (up - value(net.parameters()).item<double>()) / (2 * h);
      moved[i] = kept;
    }
    expect_close(gradient[name], slopes, 1e-6, name);
  }
}

TEST(Rnade, SeesOnlyWhatComesBefore) {
  const Rnade net = random_rnade({.inputs = 6, .hidden = 4, .components = 2, .orders = 2, .order = "random:3"});
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto raw = [&](const at::Tensor& rows) { return net.raw(rows, k); };
    require_causal(net.visible(), net.order(k), raw, at::kDouble, Key(1));
    EXPECT_THROW(require_causal(net.visible(), net.order(1 - k), raw, at::kDouble, Key(1)), Error);
  }
}

// Moments of the density by the same midpoints as above; false alarms: support/statistics.h.
TEST(Rnade, DrawsItsOwnDensityInTheUnitsOfTheData) {
  for (const char* kernel : {"gaussian", "laplace"}) {
    SCOPED_TRACE(kernel);
    const Rnade net = random_rnade({.inputs = 2,
                                    .hidden = 3,
                                    .components = 3,
                                    .kernel = kernel,
                                    .orders = 2,
                                    .order = "random:2",
                                    .means = {1, -2},
                                    .deviations = {0.5, 2}},
                                   0.4);
    const at::Tensor drawn = net.sample(Key(6), 100000).values;
    const at::Tensor axis = at::arange(-20 + 0.04, 20, 0.08, at::kDouble);
    const std::vector<at::Tensor> mesh = at::meshgrid({axis, axis}, "ij");
    const at::Tensor points = at::stack({mesh[0].reshape({-1}) * 0.5 + 1, mesh[1].reshape({-1}) * 2 - 2}, 1);
    const at::Tensor mass = (net.log_probabilities(points).exp() * (0.08 * 0.08)).unsqueeze(1);
    const at::Tensor mean = (mass * points).sum(0) / mass.sum();
    support::expect_mean(drawn, mean, "means");
    const auto moments = [&](const at::Tensor& x) {
      const at::Tensor d = x - mean;
      return at::stack({d.select(1, 0).square(), d.select(1, 1).square(), d.select(1, 0) * d.select(1, 1)}, 1);
    };
    support::expect_mean(moments(drawn), (mass * moments(points)).sum(0) / mass.sum(), "variances and covariance");
  }
}

TEST(Rnade, CompletesWhatComesAfterTheKnownValues) {
  const Rnade net = random_rnade({.inputs = 2, .hidden = 3, .components = 2, .means = {1, 0}, .deviations = {2, 1}});
  constexpr std::int64_t count = 50000;
  at::Tensor known = at::full({count, 2}, std::nan(""), at::kDouble);
  known.select(1, 0).fill_(1.7);
  const OrderedDraw drawn = net.complete(Key(3), known);
  EXPECT_TRUE(drawn.values.select(1, 0).eq(1.7).all().item<bool>());
  support::expect_mean(drawn.values.select(1, 1), drawn.means[0][1]);
  known.fill_(std::nan("")).select(1, 1).fill_(0);
  EXPECT_THROW((void)net.complete(Key(3), known), Error) << "the first value comes before the known one";
  const Rnade several = random_rnade({.inputs = 2, .hidden = 3, .components = 2, .orders = 2, .order = "random:2"});
  EXPECT_THROW((void)several.complete(Key(3), known), Error);
}

TEST(Rnade, BeginsNearTheMeansAndDeviationsOfTheColumns) {
  const at::Tensor means = at::tensor({5.0, -300.0}, at::kDouble), deviations = at::tensor({2.0, 0.5}, at::kDouble);
  for (const bool standardized : {false, true}) {
    RnadeStructure shape{.inputs = 2, .hidden = 20, .components = 10};
    if (standardized) {
      shape.means = {5, -300};
      shape.deviations = {2, 0.5};
    }
    Rnade net(shape, at::kDouble);
    initialize(net, Key(1), means, deviations);
    net.parameters()["decoder.weights"].zero_();
    const at::Tensor drawn = net.sample(Key(2), 20000).values;
    support::expect_mean(drawn, means);
    const at::Tensor found = (drawn - means).square().mean(0).sqrt();
    EXPECT_LT((found / deviations - 1).abs().max().item<double>(), 0.1);
  }
}

TEST(Rnade, ComplainsAboutColumnsWhoseDensityHasNoEnd) {
  at::Tensor rows = normal(Key(1), {200, 3}, at::kDouble);
  EXPECT_EQ(complaint_about_columns(rows), "");
  rows.select(1, 2).copy_(rows.select(1, 0) + 0.01 * rows.select(1, 1));
  EXPECT_NE(complaint_about_columns(rows).find("columns 1 and 3"), std::string::npos);
  rows.select(1, 1).round_();
  EXPECT_NE(complaint_about_columns(rows).find("column 2 (counted from 1) has only"), std::string::npos);
  EXPECT_THROW(Rnade({.inputs = 2, .orders = 2, .order = "raster"}), Error);
  EXPECT_THROW(Rnade({.inputs = 2, .kernel = "cauchy"}), Error);
  EXPECT_THROW(Rnade({.inputs = 2, .means = {0, 0}, .deviations = {1, 0}}), Error);
}

}  // namespace
}  // namespace harmonium
