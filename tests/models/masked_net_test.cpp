#include "harmonium/models/autoregressive/masked_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "harmonium/kernels/random.h"
#include "harmonium/models/autoregressive/causality.h"
#include "harmonium/models/autoregressive/nade.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

MaskedNet random_masked_net(MaskedNetStructure structure, double scale = 1) {
  MaskedNet net(std::move(structure), at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(3).fold_in(i++), value.sizes(), at::kDouble));
  return net;
}

// Every shape that has a rule of its own: belief nets, one and several layers, narrow ones, masks, orders.
std::vector<MaskedNetStructure> shapes(const std::string& visible) {
  return {{.visible = visible, .hidden = {}, .constant_spread = true},
          {.visible = visible, .hidden = {}, .order = "random:4"},
          {.visible = visible, .hidden = {6}, .activation = Activation::tanh, .direct = false},
          {.visible = visible, .hidden = {20, 3}, .activation = Activation::tanh, .order = "random:7"},
          {.visible = visible, .hidden = {9, 12}, .activation = Activation::elu, .masks = 3, .order = "random:2"},
          {.visible = visible, .hidden = {15}, .activation = Activation::tanh, .masks = 4, .seed = 8},
          {.visible = visible,
           .hidden = {},
           .activation = Activation::tanh,
           .direct = false,
           .order = "random:9",
           .group = 3}};
}

TEST(MaskedNet, HasProbabilitiesThatAddUpToOneForEveryMaskAndTheirMixture) {
  constexpr std::int64_t pixels = 8;
  const at::Tensor rows = all_rows(pixels);
  for (const MaskedNetStructure& shape : shapes(format("bernoulli:{}", pixels))) {
    const MaskedNet net = random_masked_net(shape);
    for (std::int64_t mask = 0; mask < net.masks(); ++mask)
      EXPECT_NEAR(net.log_prob(net.parameters(), rows, mask).exp().sum().item<double>(), 1, 1e-12);
    EXPECT_NEAR(net.log_probabilities(rows).exp().sum().item<double>(), 1, 1e-12);
  }
}

TEST(MaskedNet, OfCategoriesAddsUpToOneToo) {
  constexpr std::int64_t variables = 4, states = 3;
  at::Tensor numbers = at::arange(81, at::kLong);
  std::vector<at::Tensor> digits;
  for (std::int64_t i = 0; i < variables; ++i) {
    digits.push_back(at::one_hot(numbers.remainder(states), states));
    numbers = at::floor_divide(numbers, states);
  }
  const at::Tensor rows = at::cat(digits, 1).to(at::kDouble);
  for (const MaskedNetStructure& shape : shapes("categorical:4x3")) {
    const MaskedNet net = random_masked_net(shape);
    EXPECT_NEAR(net.log_probabilities(rows).exp().sum().item<double>(), 1, 1e-12);
  }
}

// Derivatives of raw outputs by inputs: zero where the input does not come first, and not everywhere zero where it
// does.
TEST(MaskedNet, SeesWhatComesBeforeAndNothingElse) {
  for (const char* visible : {"bernoulli:8", "gaussian:8:0.1", "categorical:4x2"})
    for (MaskedNetStructure shape : shapes(visible)) {
      if (!shape.hidden.empty()) shape.hidden.assign(shape.hidden.size(), 30);  // wide enough to see everything
      const MaskedNet net = random_masked_net(shape);
      const std::vector<std::int64_t> of_values = net.visible().value_variables(),
                                      of_raw = net.visible().raw_variables();
      for (std::int64_t mask = 0; mask < net.masks(); ++mask) {
        std::vector<std::int64_t> place(8);
        const std::vector<std::int64_t> order = net.order(mask);
        for (std::size_t k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = std::int64_t(k);
        const at::Tensor rows = normal(Key(5), {20, 8}, at::kDouble).requires_grad_();
        const at::Tensor raw = net.raw(net.parameters(), rows, mask);
        for (std::int64_t i = 0; i < raw.size(1); ++i) {
          if (rows.grad().defined()) rows.mutable_grad().zero_();
          raw.select(1, i).sum().backward({}, /*retain_graph=*/true);
          const bool spread = shape.constant_spread && i >= 8;
          for (std::int64_t j = 0; j < 8; ++j) {
            const double seen = rows.grad().select(1, j).abs().max().item<double>();
            const bool before =
                place[std::size_t(of_values[std::size_t(j)])] < place[std::size_t(of_raw[std::size_t(i)])];
            if (before && !spread)
              EXPECT_GT(seen, 0) << visible << ": output " << i << " is blind to " << j;
            else
              EXPECT_EQ(seen, 0) << visible << ": output " << i << " sees " << j;
          }
        }
      }
    }
}

TEST(MaskedNet, HasTheGradientOfItsFiniteDifferences) {
  for (const MaskedNetStructure& shape : shapes("bernoulli:5")) {
    const MaskedNet net = random_masked_net(shape, 0.5);
    const at::Tensor rows = all_rows(5).narrow(0, 3, 7);
    const std::int64_t mask = net.masks() - 1;
    const Moments leaves = net.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
    net.log_prob(leaves, rows, mask).mean().backward();
    for (const auto& [name, value] : net.parameters().entries())
      for (std::int64_t i = 0; i < value.numel(); ++i) {
        constexpr double step = 1e-5;
        const auto moved = [&](double by) {
          Moments other = net.parameters().clone();
          other[name].view({-1})[i] += by;
          return net.log_prob(other, rows, mask).mean().item<double>();
        };
        EXPECT_NEAR(leaves[name].grad().reshape({-1})[i].item<double>(), (moved(step) - moved(-step)) / (2 * step),
                    1e-8)
            << name << " " << i;
      }
  }
}

// The draw is another computation than the pass: units one degree after the other, masks as prefixes.
TEST(MaskedNet, DrawsItsOwnLaw) {
  constexpr std::int64_t pixels = 5, count = 20000;
  for (const MaskedNetStructure& shape : shapes(format("bernoulli:{}", pixels))) {
    const MaskedNet net = random_masked_net(shape);
    const OrderedDraw drawn = net.sample(Key(11), count);
    const at::Tensor codes = (drawn.values.to(at::kLong) * at::pow(2, at::arange(pixels, at::kLong))).sum(1);
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 32)),
                                support::numbers(net.log_probabilities(all_rows(pixels)).exp()));
    if (net.masks() == 1) expect_close(drawn.means, net.raw(net.parameters(), drawn.values, 0).sigmoid(), 1e-12);
  }
}

TEST(MaskedNet, CompletesWhatComesAfterAllThatIsKnown) {
  constexpr std::int64_t count = 20000;
  const MaskedNet net = random_masked_net(
      {.visible = "bernoulli:5", .hidden = {8, 7}, .activation = Activation::tanh, .order = "random:3"});
  const std::vector<std::int64_t> order = net.order(0);
  at::Tensor known = at::full({count, 5}, std::nan(""), at::kDouble);
  known.select(1, order[0]).fill_(1);
  known.select(1, order[1]).fill_(0);
  const OrderedDraw drawn = net.complete(Key(5), known);
  EXPECT_TRUE(drawn.values.select(1, order[0]).eq(1).all().item<bool>());
  const at::Tensor rows = all_rows(5);
  const at::Tensor fits = rows.select(1, order[0]).eq(1).logical_and(rows.select(1, order[1]).eq(0));
  const at::Tensor p = net.log_probabilities(rows).exp() * fits;
  const at::Tensor codes = (drawn.values.to(at::kLong) * at::pow(2, at::arange(5, at::kLong))).sum(1);
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 32)), support::numbers(p / p.sum()));

  known.select(1, order[0]).fill_(std::nan(""));
  support::expect_mentions(support::message_of([&] { (void)net.complete(Key(5), known); }),
                           {"order", std::to_string(order[1]), std::to_string(order[0])});
  const MaskedNet several = random_masked_net({.visible = "bernoulli:5", .hidden = {8}, .masks = 2});
  support::expect_mentions(support::message_of([&] { (void)several.complete(Key(5), known); }), {"masks", "orderless"});
}

// Regressions of each column on those before it, with the residuals' deviations (divisor n), are the Gaussian of the
// sample mean and covariance.
TEST(MaskedNet, OfLinearRegressionsIsTheMaximumLikelihoodGaussian) {
  constexpr std::int64_t width = 4, count = 50;
  const at::Tensor mix = normal(Key(2), {width, width}, at::kDouble);
  const at::Tensor x = normal(Key(1), {count, width}, at::kDouble).mm(mix) + 0.5;
  MaskedNet net({.visible = "gaussian:4:1e-12", .hidden = {}, .constant_spread = true}, at::kDouble);
  for (std::int64_t i = 0; i < width; ++i) {
    const at::Tensor design = at::cat({x.narrow(1, 0, i), at::ones({count, 1}, at::kDouble)}, 1);
    const at::Tensor solution = at::linalg_pinv(design).mv(x.select(1, i));
    net.parameters()["direct.weights"].select(1, i).narrow(0, 0, i).copy_(solution.narrow(0, 0, i));
    net.parameters()["output.bias"][i] = solution[i];
    const at::Tensor residual = x.select(1, i) - design.mv(solution);
    net.parameters()["output.bias"][width + i] = residual.square().mean().sqrt().log();
  }
  const at::Tensor centred = x - x.mean(0), covariance = centred.t().mm(centred) / double(count);
  const at::Tensor points = normal(Key(9), {30, width}, at::kDouble), off = points - x.mean(0);
  const at::Tensor density = -0.5 * (off.mm(at::linalg_inv(covariance)) * off).sum(1) - 0.5 * at::logdet(covariance) -
                             0.5 * width * std::log(2 * std::numbers::pi);
  expect_close(net.log_probabilities(points), density, 1e-9);
}

// Group by group, in plain numbers.
TEST(MaskedNet, InGroupsGivesEveryVariableHiddenUnitsOfItsOwn) {
  constexpr std::int64_t variables = 6, group = 3;
  const MaskedNet net = random_masked_net({.visible = "bernoulli:6",
                                           .hidden = {},
                                           .activation = Activation::tanh,
                                           .direct = true,
                                           .order = "random:5",
                                           .group = group});
  const std::vector<std::int64_t> order = net.order(0);
  const Moments& p = net.parameters();
  const at::Tensor &W = p["layer1.weights"], &c = p["layer1.bias"], &V = p["output.weights"], &b = p["output.bias"],
                   &D = p["direct.weights"];
  ASSERT_EQ(W.size(1), (variables - 1) * group);
  const auto number = [](const at::Tensor& matrix, std::int64_t i, std::int64_t j) {
    return matrix[i][j].item<double>();
  };
  const at::Tensor rows = all_rows(variables), found = net.log_probabilities(rows);
  for (const std::int64_t row : {5, 26, 63}) {
    double total = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
      const std::int64_t i = order[place];
      double z = b[i].item<double>();
      for (std::size_t before = 0; before < place; ++before) {  // group number before + 1 sees so many variables
        z += rows[row][order[before]].item<double>() * number(D, order[before], i);
        for (std::int64_t k = 0; k < group; ++k) {
          const std::int64_t unit = static_cast<std::int64_t>(before) * group + k;
          double a = c[unit].item<double>();
          for (std::size_t j = 0; j <= before; ++j) a += rows[row][order[j]].item<double>() * number(W, order[j], unit);
          z += number(V, unit, i) * std::tanh(a);
        }
      }
      total += rows[row][i].item<double>() * z - std::log1p(std::exp(z));
    }
    EXPECT_NEAR(found[row].item<double>(), total, 1e-11);
  }
  const at::Tensor seen = net.filters(0).ne(0).sum(0).view({variables - 1, group});
  for (std::int64_t g = 0; g + 1 < variables; ++g) EXPECT_TRUE(seen[g].eq(g + 1).all().item<bool>());
}

TEST(MaskedNet, BeginsWithTheFrequenciesOfTheData) {
  MaskedNet net({.visible = "bernoulli:3", .hidden = {}}, at::kDouble);
  initialize(net, Key(1), at::tensor({0.2, 0.5, 0.0}, at::kDouble));
  expect_close(net.log_probabilities(at::tensor({1.0, 0.0, 0.0}, at::kDouble).unsqueeze(0)).exp(),
               at::tensor({0.2 * 0.5 * 0.999}, at::kDouble), 1e-12);
}

TEST(Causality, IsRefusedToANetThatLeaksOnePixel) {
  const MaskedNet net = random_masked_net({.visible = "bernoulli:12", .hidden = {20}, .order = "random:5"});
  const auto sound = [&](const at::Tensor& rows) { return net.raw(net.parameters(), rows, 0); };
  EXPECT_NO_THROW(require_causal(net.visible(), net.order(0), sound, at::kDouble, Key(1)));
  // Output of the third in order sees itself, ever so little.
  const std::int64_t leak = net.order(0)[2];
  const auto leaking = [&](const at::Tensor& rows) {
    at::Tensor raw = sound(rows).clone();
    raw.select(1, leak).add_(1e-9 * rows.select(1, leak));
    return raw;
  };
  support::expect_mentions(
      support::message_of([&] { require_causal(net.visible(), net.order(0), leaking, at::kDouble, Key(1)); }),
      {"not autoregressive", std::to_string(leak), "number 3"});
  // The same outputs in another order are no conditionals either.
  EXPECT_THROW(
      require_causal(net.visible(), net.order(0).front() == 0 ? parse_order("random:6", 12) : parse_order("raster", 12),
                     sound, at::kDouble, Key(1)),
      Error);
}

TEST(MaskedNet, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { MaskedNet({.visible = "bernoulli:3", .hidden = {}, .direct = false}); }),
                  {"inputs to outputs"});
  expect_mentions(message_of([] { MaskedNet({.visible = "shared_gaussian:3:0.1"}); }),
                  {"shared_gaussian", "gaussian:N"});
  expect_mentions(message_of([] { MaskedNet({.visible = "bernoulli:3", .masks = 0}); }), {"mask"});
  expect_mentions(message_of([] { MaskedNet({.visible = "bernoulli:1", .hidden = {}, .group = 2}); }),
                  {"groups", "two"});
  expect_mentions(message_of([] { MaskedNet({.visible = "bernoulli:3", .hidden = {5}, .group = 2}); }),
                  {"groups of 2", "4"});
  const MaskedNet net({.visible = "bernoulli:3", .hidden = {2}});
  expect_mentions(message_of([&] { (void)net.log_probabilities(at::zeros({2, 5})); }), {"3", "5"});
}

}  // namespace
}  // namespace harmonium
