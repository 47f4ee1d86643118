#include "harmonium/models/directed/layer_law.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/distributions/bernoulli.h"
#include "harmonium/kernels/random.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

struct RandomLaw {
  LayerLaw law;
  Moments parameters = {};
  // As if a net had put it out.
  [[nodiscard]] at::Tensor raw(const std::vector<std::int64_t>& leading, std::uint64_t seed = 1) const {
    std::vector<std::int64_t> shape = leading;
    shape.push_back(law.raw_width());
    return normal(Key(seed), shape, at::kDouble);
  }
};

// Every parameter ~ N(0, 1).
RandomLaw random_law(LayerKind kind, std::int64_t units, std::int64_t hidden = 0) {
  RandomLaw made{LayerLaw("it.", kind, std::make_shared<BernoulliDistribution>(units), hidden)};
  made.law.declare(made.parameters, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : made.parameters.entries())
    at::Tensor(value).copy_(normal(Key(3).fold_in(i++), value.sizes(), at::kDouble));
  return made;
}

const std::vector<LayerKind> every_kind = {LayerKind::factorial, LayerKind::autoregressive, LayerKind::nade};

// One bit after the other, in plain numbers.
double written_out(const RandomLaw& made, const at::Tensor& y, const at::Tensor& raw) {
  const std::int64_t units = y.size(0);
  const auto at_place = [](const at::Tensor& matrix, std::int64_t i, std::int64_t j) {
    return matrix[i][j].item<double>();
  };
  double total = 0;
  for (std::int64_t i = 0; i < units; ++i) {
    double z = raw[i].item<double>();
    if (made.law.kind() == LayerKind::autoregressive)
      for (std::int64_t j = 0; j < i; ++j)
        z += y[j].item<double>() * at_place(made.parameters["it.earlier.weights"], j, i);
    if (made.law.kind() == LayerKind::nade) {
      const at::Tensor &W = made.parameters["it.nade.encoder.weights"], &V = made.parameters["it.nade.decoder.weights"];
      for (std::int64_t k = 0; k < W.size(1); ++k) {
        double a = raw[units + k].item<double>();
        for (std::int64_t j = 0; j < i; ++j) a += y[j].item<double>() * at_place(W, j, k);
        z += at_place(V, i, k) / (1 + std::exp(-a));
      }
    }
    total += y[i].item<double>() * z - std::log1p(std::exp(z));
  }
  return total;
}

TEST(LayerLaw, IsItsFormulaAndAddsUpToOneWhateverTheParentSays) {
  const at::Tensor rows = all_rows(5);
  for (const LayerKind kind : every_kind) {
    const RandomLaw made = random_law(kind, 5, 4);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const at::Tensor raw = made.raw({1}, seed), found = made.law.log_prob(made.parameters, rows, raw);
      EXPECT_NEAR(found.exp().sum().item<double>(), 1, 1e-12);
      for (const std::int64_t row : {0, 11, 22, 31})
        EXPECT_NEAR(found[row].item<double>(), written_out(made, rows[row], raw[0]), 1e-12) << to_string(kind);
    }
  }
}

// Derivatives of means by the values, by differences, since a NADE has none: exactly zero but where the value comes
// before, and there not zero.
TEST(LayerLaw, SeesEarlierValuesOfItsLayerAndNoOthers) {
  for (const LayerKind kind : every_kind) {
    const RandomLaw made = random_law(kind, 6);
    const at::Tensor raw = made.raw({10}), y = normal(Key(4), {10, 6}, at::kDouble).gt(0).to(at::kDouble);
    const at::Tensor before = made.law.means(made.parameters, y, raw);
    for (std::int64_t j = 0; j < 6; ++j) {
      at::Tensor other = y.clone();
      other.select(1, j).copy_(1 - y.select(1, j));
      const at::Tensor change = (made.law.means(made.parameters, other, raw) - before).abs().amax(0);
      for (std::int64_t i = 0; i < 6; ++i)
        if (i > j && kind != LayerKind::factorial)
          EXPECT_GT(change[i].item<double>(), 1e-6) << to_string(kind) << ": " << i << " is blind to " << j;
        else
          EXPECT_EQ(change[i].item<double>(), 0) << to_string(kind) << ": " << i << " sees " << j;
    }
  }
}

// A NADE's gradient comes from a loop of its own. Here: automatic differentiation of all hidden values at once, with
// weights of rows that differ, and values or raw numbers that several draws share.
TEST(LayerLaw, HasTheGradientOfItsFormulaWithRowsThatCountDifferently) {
  constexpr std::int64_t units = 7, hidden = 5, rows = 9, draws = 4;
  const RandomLaw made = random_law(LayerKind::nade, units, hidden);
  const at::Tensor weight = normal(Key(8), {rows, draws}, at::kDouble);
  for (const bool shared_values : {true, false}) {
    const at::Tensor y = normal(Key(4), {rows, shared_values ? 1 : draws, units}, at::kDouble).gt(0).to(at::kDouble);
    const auto gradients = [&](bool by_law) {
      const Moments leaves = made.parameters.map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
      const at::Tensor raw = made.raw({rows, shared_values ? draws : 1}).requires_grad_();
      at::Tensor log_p;
      if (by_law) {
        log_p = made.law.log_prob(leaves, y, raw);
      } else {
        const at::Tensor terms = y.unsqueeze(-1) * leaves["it.nade.encoder.weights"];
        const at::Tensor a = raw.narrow(-1, units, hidden).unsqueeze(-2) + terms.cumsum(-2) - terms;
        const at::Tensor z = (a.sigmoid() * leaves["it.nade.decoder.weights"]).sum(-1) + raw.narrow(-1, 0, units);
        log_p = (y * z - at::softplus(z)).sum(-1);
      }
      (weight * log_p).sum().backward();
      return std::vector<at::Tensor>{raw.grad(), leaves["it.nade.encoder.weights"].grad(),
                                     leaves["it.nade.decoder.weights"].grad()};
    };
    const std::vector<at::Tensor> found = gradients(true), wanted = gradients(false);
    for (std::size_t i = 0; i < found.size(); ++i) expect_close(found[i], wanted[i], 1e-11);
  }
}

TEST(LayerLaw, HasTheGradientOfDifferencesWhereEarlierValuesCountByWeights) {
  const RandomLaw made = random_law(LayerKind::autoregressive, 4);
  const at::Tensor y = all_rows(4), raw = made.raw({16});
  const Moments leaves = made.parameters.map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
  made.law.log_prob(leaves, y, raw).sum().backward();
  const at::Tensor grad = leaves["it.earlier.weights"].grad();
  for (std::int64_t j = 0; j < 4; ++j)
    for (std::int64_t i = 0; i < 4; ++i) {
      constexpr double step = 1e-5;
      const auto moved = [&](double by) {
        Moments other = made.parameters.clone();
        other["it.earlier.weights"][j][i] += by;
        return made.law.log_prob(other, y, raw).sum().item<double>();
      };
      EXPECT_NEAR(grad[j][i].item<double>(), (moved(step) - moved(-step)) / (2 * step), 1e-8);
    }
}

// False alarms: support/statistics.h.
TEST(LayerLaw, DrawsItself) {
  constexpr std::int64_t count = 20'000;
  for (const LayerKind kind : every_kind) {
    const RandomLaw made = random_law(kind, 4, 3);
    const at::Tensor raw = made.raw({1});
    const at::Tensor drawn = made.law.sample(made.parameters, Key(5), raw.expand({count, raw.size(1)}).contiguous());
    const at::Tensor codes = (drawn.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)),
                                support::numbers(made.law.log_prob(made.parameters, all_rows(4), raw).exp()));
  }
}

// In layers of more units than are kept up to date one by one, every bit is what its uniform number and its mean given
// the bits before it say.
TEST(LayerLaw, DrawsEveryBitByItsMeanGivenThoseBefore) {
  for (const LayerKind kind : every_kind)
    for (const std::int64_t units : {1, 31, 32, 33, 100}) {
      const RandomLaw made = random_law(kind, units, 6);
      const at::Tensor raw = made.raw({50}), y = made.law.sample(made.parameters, Key(6), raw);
      const at::Tensor u = uniform(Key(6), {50, units}, at::kDouble);
      EXPECT_TRUE(at::equal(y, u.lt(made.law.means(made.parameters, y, raw)).to(at::kDouble)))
          << to_string(kind) << " " << units;
    }
}

TEST(LayerLaw, DrawsManyForEveryRowEachByItsOwnKey) {
  for (const LayerKind kind : every_kind) {
    const RandomLaw made = random_law(kind, 40, 6);
    const std::vector<Key> keys = {Key(1), Key(2), Key(3)};
    const at::Tensor one = made.raw({8, 1}), each = made.raw({8, 3});
    for (const at::Tensor& raw : {one, each}) {
      const at::Tensor all = made.law.sample(made.parameters, keys, raw);
      for (std::int64_t k = 0; k < 3; ++k)
        EXPECT_TRUE(at::equal(all.select(1, k), made.law.sample(made.parameters, keys[static_cast<std::size_t>(k)],
                                                                raw.select(1, raw.size(1) == 1 ? 0 : k).contiguous())))
            << to_string(kind);
    }
  }
}

TEST(LayerLaw, WalksAlongItsMeans) {
  for (const LayerKind kind : every_kind) {
    const RandomLaw made = random_law(kind, 40, 6);
    const at::Tensor raw = made.raw({8}), means = made.law.mean_walk(made.parameters, raw);
    expect_close(made.law.means(made.parameters, means, raw), means, 1e-12);
  }
}

TEST(LayerLaw, BeginsFactorialWhereEarlierValuesCountByWeights) {
  RandomLaw made = random_law(LayerKind::autoregressive, 4);
  made.law.initialize(made.parameters, Key(1));
  const RandomLaw plain = random_law(LayerKind::factorial, 4);
  const at::Tensor raw = made.raw({16});
  EXPECT_TRUE(at::equal(made.law.log_prob(made.parameters, all_rows(4), raw),
                        plain.law.log_prob(plain.parameters, all_rows(4), raw)));
}

TEST(LayerLaw, IsOfBitsAndKnowsItsKindsByName) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { LayerLaw("it.", LayerKind::nade, make_distribution("gaussian:3:0.1"), 0); }),
                  {"nade", "bits", "gaussian"});
  expect_mentions(message_of([] { (void)parse_layer_kind("darn", "layer"); }),
                  {"layer", "darn", "factorial, autoregressive, nade"});
  for (const LayerKind kind : every_kind) EXPECT_EQ(parse_layer_kind(to_string(kind), "layer"), kind);
  EXPECT_EQ(random_law(LayerKind::nade, 4).law.raw_width(), 8) << "as many hidden units as there are values";
}

}  // namespace
}  // namespace harmonium
