#include "harmonium/models/autoregressive/nade.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/nade_blocks.h"
#include "harmonium/kernels/random.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

Nade random_nade(std::int64_t inputs, std::int64_t hidden, const std::string& order = "raster", double scale = 1) {
  Nade nade(inputs, hidden, parse_order(order, inputs), at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : nade.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(3).fold_in(i++), value.sizes(), at::kDouble));
  return nade;
}

at::Tensor gray_rows(std::int64_t rows, std::int64_t inputs) { return uniform(Key(5), {rows, inputs}, at::kDouble); }
at::Tensor binary_rows(std::int64_t rows, std::int64_t inputs) { return gray_rows(rows, inputs).round(); }

NadeTensors tensors_of(const Nade& nade) {  // of a net in raster order
  const Moments& p = nade.parameters();
  return {.hidden_bias = p["hidden.bias"],
          .encoder = p["encoder.weights"],
          .output_bias = p["output.bias"],
          .decoder = p["decoder.weights"]};
}

// One term of the header's formula in plain numbers: every conditional sums its hidden inputs afresh.
double naive_log_conditional(const Nade& nade, const support::Row& x, std::size_t place) {
  const auto numbers = [&](const char* name) { return support::numbers(nade.parameters()[name]); };
  const support::Row c = numbers("hidden.bias"), W = numbers("encoder.weights"), b = numbers("output.bias"),
                     V = numbers("decoder.weights");
  const std::size_t H = c.size(), i = static_cast<std::size_t>(nade.order()[place]);
  double z = b[i];
  for (std::size_t h = 0; h < H; ++h) {
    double a = c[h];
    for (std::size_t before = 0; before < place; ++before) {
      const auto j = static_cast<std::size_t>(nade.order()[before]);
      a += x[j] * W[j * H + h];
    }
    z += V[i * H + h] / (1 + std::exp(-a));
  }
  const double p = 1 / (1 + std::exp(-z));
  return x[i] * std::log(p) + (1 - x[i]) * std::log(1 - p);
}

// The mean log p as LibTorch's own differentiation can follow it.
at::Tensor naive_mean(const Nade& nade, const Moments& p, const at::Tensor& x) {
  at::Tensor a = p["hidden.bias"].expand({x.size(0), nade.hidden()}), sum = at::zeros({x.size(0)}, x.options());
  for (const std::int64_t i : nade.order()) {
    const at::Tensor z = at::mv(a.sigmoid(), p["decoder.weights"][i]) + p["output.bias"][i];
    sum = sum + x.select(1, i) * at::log_sigmoid(z) + (1 - x.select(1, i)) * at::log_sigmoid(-z);
    a = a + at::outer(x.select(1, i), p["encoder.weights"][i]);
  }
  return sum.mean();
}

class NadeInOrder : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Orders, NadeInOrder, testing::Values("raster", "random:1", "random:2"),
                         [](const auto& one) { return "Order" + std::to_string(one.index); });

TEST_P(NadeInOrder, ProbabilitiesOfAllRowsSumToOne) {
  const Nade nade = random_nade(8, 5, GetParam());
  EXPECT_NEAR(nade.log_probabilities(all_rows(8)).exp().sum().item<double>(), 1, 1e-12);
}

TEST_P(NadeInOrder, IsTheFormulaOfItsHeaderTermByTerm) {
  const Nade nade = random_nade(6, 5, GetParam());
  for (const at::Tensor& rows : {binary_rows(9, 6), gray_rows(9, 6)}) {
    const at::Tensor terms = nade.log_conditionals(rows), sums = nade.log_probabilities(rows);
    for (std::int64_t row = 0; row < 9; ++row) {
      double sum = 0;
      for (std::size_t place = 0; place < 6; ++place) {
        const double expected = naive_log_conditional(nade, support::numbers(rows[row]), place);
        EXPECT_NEAR(terms[row][nade.order()[place]].item<double>(), expected, 1e-12);
        sum += expected;
      }
      EXPECT_NEAR(sums[row].item<double>(), sum, 1e-11);
    }
  }
}

TEST_P(NadeInOrder, GradientIsThatOfCentralDifferences) {
  const Nade nade = random_nade(5, 4, GetParam());
  for (const at::Tensor& rows : {binary_rows(11, 5), gray_rows(11, 5)}) {
    const LogLikelihoodGradient found = nade.log_likelihood_gradient(rows);
    const at::Tensor at_point = nade.parameters().flatten(), gradient = found.gradient.flatten();
    EXPECT_NEAR(found.log_likelihood.item<double>(), nade.log_probabilities(rows).mean().item<double>(), 1e-12);
    constexpr double step = 1e-5;  // leaves step²·f‴/6 ≈ 1e-11 and rounding of 1e-16/step
    const auto value_at = [&](std::int64_t i, double move) {
      at::Tensor moved = at_point.clone();
      moved[i] += move;
      return nade.with_parameters(nade.parameters().unflatten(moved)).log_probabilities(rows).mean().item<double>();
    };
    for (std::int64_t i = 0; i < at_point.numel(); ++i)
      EXPECT_NEAR(gradient[i].item<double>(), (value_at(i, step) - value_at(i, -step)) / (2 * step), 1e-8) << i;
  }
}

TEST_P(NadeInOrder, GradientIsThatOfAutomaticDifferentiation) {
  // 75 rows and 19 hidden units: more than two teams of the kernel's, and no multiple of anything of its.
  const Nade nade = random_nade(20, 19, GetParam());
  for (const at::Tensor& rows : {binary_rows(75, 20), gray_rows(75, 20)}) {
    const Moments p = nade.parameters().clone();
    for (const auto& [name, value] : p.entries()) at::Tensor(value).set_requires_grad(true);
    const at::Tensor mean = naive_mean(nade, p, rows);
    mean.backward();
    const LogLikelihoodGradient found = nade.log_likelihood_gradient(rows);
    EXPECT_NEAR(found.log_likelihood.item<double>(), mean.item<double>(), 1e-11);
    expect_close(found.gradient, p.map([](const at::Tensor& x) { return x.grad(); }), 1e-12);
    const at::Tensor last = found.gradient["encoder.weights"][nade.order().back()];
    EXPECT_EQ(last.abs().max().item<double>(), 0) << "nothing comes after the last input";
  }
}

TEST_P(NadeInOrder, AnOutputSeesAllInputsBeforeItAndNoOther) {
  constexpr std::int64_t inputs = 8;
  const Nade nade = random_nade(inputs, 5, GetParam());
  const at::Tensor rows = binary_rows(10, inputs), before = nade.conditional_means(rows);
  for (std::size_t changed = 0; changed < inputs; ++changed) {
    at::Tensor others = rows.clone();
    others.select(1, nade.order()[changed]).mul_(-1).add_(1);
    const at::Tensor after = nade.conditional_means(others);
    for (std::size_t place = 0; place < inputs; ++place) {
      const std::int64_t column = nade.order()[place];
      if (place <= changed)
        EXPECT_TRUE(at::equal(after.select(1, column), before.select(1, column))) << "a leak";
      else
        EXPECT_FALSE(at::equal(after.select(1, column), before.select(1, column))) << "a blind spot";
    }
  }
  expect_close(nade.log_conditionals(rows), (rows * before + (1 - rows) * (1 - before)).log(), 1e-12);
}

TEST_P(NadeInOrder, EqualsANetInRasterOrderOfColumnsThatChangedPlaces) {
  const Nade nade = random_nade(7, 4, GetParam()), raster(7, 4, {}, at::kDouble);
  const at::Tensor places = at::tensor(nade.order(), at::kLong);
  const auto moved = [&](const Moments& by_column) {
    Moments result = by_column.clone();
    for (const char* name : {"encoder.weights", "output.bias", "decoder.weights"})
      result[name] = by_column[name].index_select(0, places);
    return result;
  };
  const Nade other = raster.with_parameters(moved(nade.parameters()));
  const at::Tensor rows = gray_rows(10, 7), there = rows.index_select(1, places);
  expect_close(nade.log_probabilities(rows), other.log_probabilities(there), 1e-14);
  expect_close(nade.log_conditionals(rows).index_select(1, places), other.log_conditionals(there), 1e-14);
  expect_close(moved(nade.log_likelihood_gradient(rows).gradient), other.log_likelihood_gradient(there).gradient,
               1e-13);
  EXPECT_TRUE(at::equal(nade.sample(Key(1), 20).index_select(1, places), other.sample(Key(1), 20)));
}

TEST_P(NadeInOrder, DrawsRowsAsOftenAsTheirProbability) {
  const Nade nade = random_nade(5, 4, GetParam());
  const at::Tensor draws = nade.sample(Key(7), 40000);
  EXPECT_TRUE(draws.eq(0).logical_or(draws.eq(1)).all().item<bool>());
  // χ² with a false-alarm rate of 1e-6, seed fixed.
  const at::Tensor counts = at::bincount(support::codes({{draws}}), {}, 32);
  support::expect_frequencies(support::numbers(counts), support::numbers(nade.log_probabilities(all_rows(5)).exp()));
  EXPECT_TRUE(at::equal(nade.sample(Key(7), 7), draws.narrow(0, 0, 7))) << "a row depends on its number alone";
  EXPECT_FALSE(at::equal(nade.sample(Key(8), 40000), draws));
}

TEST_P(NadeInOrder, DrawsWhatIsNotKnownGivenWhatIs) {
  constexpr std::int64_t inputs = 6, count = 40000;
  const Nade nade = random_nade(inputs, 4, GetParam());
  at::Tensor known = at::zeros({inputs}, at::kBool), row = at::zeros({inputs}, at::kDouble);
  for (std::size_t place = 0; place < 3; ++place) known[nade.order()[place]] = true;
  row[nade.order()[0]] = 1;
  row[nade.order()[2]] = 1;
  const at::Tensor draws = nade.sample_given(Key(9), row.expand({count, inputs}), known);
  EXPECT_TRUE(draws.eq(row).logical_or(known.logical_not()).all().item<bool>()) << "known columns stay";
  // p(x | known) by enumeration of all rows; χ² with a false-alarm rate of 1e-6, seed fixed.
  const at::Tensor rows = all_rows(inputs), fits = rows.eq(row).logical_or(known.logical_not()).all(1).to(at::kDouble),
                   weights = nade.log_probabilities(rows).exp() * fits;
  support::expect_frequencies(support::numbers(at::bincount(support::codes({{draws}}), {}, 1 << inputs)),
                              support::numbers(weights / weights.sum()));

  const at::Tensor data = binary_rows(20, inputs), nothing = at::zeros({inputs}), all = at::ones({inputs});
  EXPECT_TRUE(at::equal(nade.sample_given(Key(1), data, nothing), nade.sample(Key(1), 20)));
  EXPECT_TRUE(at::equal(nade.sample_given(Key(1), data, all), data));
}

TEST(Nade, SaysWhichKnownColumnComesTooLate) {
  const Nade nade(4, 2, {2, 0, 3, 1});
  const at::Tensor rows = at::zeros({1, 4}), known = at::tensor(std::vector<std::int64_t>{0, 1, 1, 0});
  EXPECT_EQ(nade.sample_given(Key(1), rows, at::tensor(std::vector<std::int64_t>{1, 0, 1, 0})).size(0), 1);
  support::expect_mentions(support::message_of([&] { (void)nade.sample_given(Key(1), rows, known); }),
                           {"column 1 is known", "column 0", "order"});
}

TEST(Nade, GivesTheSameByLoopsAndByBlocksOfAnySize) {
  constexpr std::int64_t inputs = 13;
  const Nade nade = random_nade(inputs, 21);
  const NadeTensors net = tensors_of(nade);
  for (const std::int64_t rows : {1, 8, 33, 100})
    for (const at::Tensor& x : {binary_rows(rows, inputs), gray_rows(rows, inputs)}) {
      const at::Tensor z = nade_logits(net, x);
      const NadeSums sums = nade_gradient(net, x);
      expect_close(sums.logits, z, 1e-13);
      for (const std::int64_t block : {0, 1, 4, 12, 13, 50}) {
        expect_close(nade_logits_by_blocks(net, x, block), z, 1e-13);
        const NadeSums other = nade_gradient_by_blocks(net, x, block);
        expect_close(other.logits, z, 1e-13);
        expect_close(other.gradient.hidden_bias, sums.gradient.hidden_bias, 1e-12, "hidden.bias");
        expect_close(other.gradient.encoder, sums.gradient.encoder, 1e-12, "encoder.weights");
        expect_close(other.gradient.output_bias, sums.gradient.output_bias, 1e-12, "output.bias");
        expect_close(other.gradient.decoder, sums.gradient.decoder, 1e-12, "decoder.weights");
      }
      const at::Tensor u = uniform(Key(6), {rows, inputs}, at::kDouble);
      at::Tensor by_loop = x.clone(), by_steps = x.clone();
      nade_draw_(net, by_loop, u, 4);
      nade_draw_by_steps_(net, by_steps, u, 4);
      EXPECT_TRUE(at::equal(by_loop, by_steps));
      EXPECT_TRUE(at::equal(by_loop.narrow(1, 0, 4), x.narrow(1, 0, 4)));
    }
}

// Biases of their own for every row, and errors from outside: against automatic differentiation of all hidden values.
TEST(Nade, TakesBiasesAndErrorsOfEveryRow) {
  constexpr std::int64_t inputs = 13, hidden = 21;
  const Nade nade = random_nade(inputs, hidden);
  for (const std::int64_t rows : {1, 8, 33, 100}) {
    NadeTensors net = tensors_of(nade);
    net.hidden_bias = normal(Key(1), {rows, hidden}, at::kDouble).requires_grad_();
    net.output_bias = normal(Key(2), {rows, inputs}, at::kDouble).requires_grad_();
    net.encoder = net.encoder.clone().requires_grad_();
    net.decoder = net.decoder.clone().requires_grad_();
    const at::Tensor x = binary_rows(rows, inputs), errors = normal(Key(4), {rows, inputs}, at::kDouble);
    const at::Tensor terms = x.unsqueeze(2) * net.encoder, a = net.hidden_bias.unsqueeze(1) + terms.cumsum(1) - terms,
                     z = (a.sigmoid() * net.decoder).sum(2) + net.output_bias;
    (errors * z).sum().backward();
    NadeTensors plain = net;
    for (at::Tensor* each : {&plain.hidden_bias, &plain.output_bias, &plain.encoder, &plain.decoder})
      *each = each->detach();
    expect_close(nade_logits(plain, x), z.detach(), 1e-13);
    for (const NadeTensors& found : {nade_backward(plain, x, errors), nade_backward_by_blocks(plain, x, errors, 4)}) {
      expect_close(found.hidden_bias, net.hidden_bias.grad(), 1e-12, "hidden bias");
      expect_close(found.encoder, net.encoder.grad(), 1e-12, "encoder");
      expect_close(found.output_bias, net.output_bias.grad(), 1e-12, "output bias");
      expect_close(found.decoder, net.decoder.grad(), 1e-12, "decoder");
    }
    const at::Tensor u = uniform(Key(6), {rows, inputs}, at::kDouble);
    at::Tensor by_loop = x.clone(), by_steps = x.clone();
    nade_draw_(plain, by_loop, u, 3);
    nade_draw_by_steps_(plain, by_steps, u, 3);
    EXPECT_TRUE(at::equal(by_loop, by_steps));
    EXPECT_TRUE(at::equal(by_loop.narrow(1, 3, inputs - 3),
                          u.lt(nade_logits(plain, by_loop).sigmoid()).to(at::kDouble).narrow(1, 3, inputs - 3)));
  }
}

TEST(Nade, DoesNotDependOnWhichRowsAreTakenTogetherOrOnThreads) {
  const Nade nade = random_nade(9, 6, "random:4");
  const at::Tensor rows = binary_rows(2100, 9);  // more than log_probabilities takes at once
  const LogLikelihoodGradient whole = nade.log_likelihood_gradient(rows);
  Moments sum = whole.gradient.zeros_like();
  std::vector<at::Tensor> log_p;
  for (std::int64_t first = 0; first < 2100; first += 70) {
    sum.add_(nade.log_likelihood_gradient(rows.narrow(0, first, 70)).gradient, 70.0 / 2100);
    log_p.push_back(nade.log_probabilities(rows.narrow(0, first, 70)));
  }
  expect_close(whole.gradient, sum, 1e-13);
  EXPECT_TRUE(at::equal(nade.log_probabilities(rows), at::cat(log_p)));
  const support::ThreadCount threads(3);
  EXPECT_TRUE(at::equal(nade.log_probabilities(rows), at::cat(log_p)));
  expect_close(nade.log_likelihood_gradient(rows).gradient, whole.gradient, 1e-14);
  EXPECT_EQ(nade.log_probabilities(rows.narrow(0, 0, 0)).size(0), 0);
}

TEST(Nade, IsAsExactInSinglePrecisionAsItsRounding) {
  // Long rows of gray values and weights that drive |a| to about 20, whose rounding is 2e-6: logits of 60 hidden units
  // with decoders of size 0.7 are off by some 1e-5, as are shares of gradients that subtraction brings back.
  const Nade nade = random_nade(400, 60, "random:5", 0.7), single = nade.to(at::kFloat);
  const at::Tensor rows = gray_rows(40, 400);
  expect_close(single.log_probabilities(rows), nade.log_probabilities(rows), 1e-5);
  const Moments exact = nade.log_likelihood_gradient(rows).gradient,
                found = single.log_likelihood_gradient(rows).gradient;
  for (const auto& [name, value] : found.entries())
    expect_close(value / exact[name].abs().max(), exact[name] / exact[name].abs().max(), 1e-4, name);
}

TEST(Nade, BeginsWithTheFrequenciesOfTheData) {
  Nade nade(300, 100, {}, at::kDouble);
  at::Tensor means = uniform(Key(1), {300}, at::kDouble);
  means[0] = 0;
  means[1] = 1;
  initialize(nade, Key(2), means);
  const at::Tensor p = nade.parameters()["output.bias"].sigmoid();
  expect_close(p, means.clamp(0.001, 0.999), 1e-12);
  EXPECT_EQ(nade.parameters()["hidden.bias"].abs().max().item<double>(), 0);
  const double limit = std::sqrt(6.0 / 400);
  for (const char* name : {"encoder.weights", "decoder.weights"}) {
    const at::Tensor& weights = nade.parameters()[name];
    EXPECT_LE(weights.abs().max().item<double>(), limit);
    // Of 30 000 uniform numbers the mean is off by limit/√3/√30000 and the mean square, relative, by √0.8/√30000: 5.5
    // standard deviations are 0.018 limits and 0.028; a false alarm in 1 of 10^7 seeds.
    EXPECT_NEAR(weights.mean().item<double>(), 0, 0.019 * limit);
    EXPECT_NEAR(weights.square().mean().item<double>() / (limit * limit / 3), 1, 0.029);
  }
  EXPECT_FALSE(at::equal(nade.parameters()["encoder.weights"], nade.parameters()["decoder.weights"]));
}

TEST(Nade, ReadsAnOrderFromText) {
  EXPECT_EQ(parse_order("raster", 3), (std::vector<std::int64_t>{0, 1, 2}));
  const std::vector<std::int64_t> drawn = parse_order("random:17", 50);
  EXPECT_EQ(drawn, parse_order("random:17", 50));
  EXPECT_NE(drawn, parse_order("random:18", 50));
  EXPECT_EQ(Nade(50, 1, drawn).order(), drawn) << "a permutation";
  for (const char* text : {"random:", "random:-1", "random:1x", "random:99999999999999999999"})
    support::expect_mentions(support::message_of([&] { (void)parse_order(text, 3); }), {text, "whole number"});
  support::expect_mentions(support::message_of([] { (void)parse_order("spiral", 3); }), {"spiral", "raster"});
}

TEST(Nade, SharesParametersByWithAndCopiesThemByTo) {
  Nade nade = random_nade(4, 3, "random:1");
  const Nade shared = nade.with_parameters(nade.parameters()), copy = nade.to(at::kDouble);
  const at::Tensor rows = binary_rows(5, 4), before = nade.log_probabilities(rows);
  nade.parameters()["output.bias"].add_(1);
  EXPECT_EQ(shared.order(), nade.order());
  EXPECT_EQ(copy.order(), nade.order());
  EXPECT_TRUE(at::equal(shared.log_probabilities(rows), nade.log_probabilities(rows)));
  EXPECT_TRUE(at::equal(copy.log_probabilities(rows), before));
  const Topology topology = nade.topology();
  for (const EdgeInfo& edge : topology.edges) {
    EXPECT_EQ(nade.parameters()[edge.weights].size(0), topology.layers[edge.lower].width);
    EXPECT_EQ(nade.parameters()[edge.weights].size(1), topology.layers[edge.upper].width);
  }
}

TEST(Nade, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const Nade nade(3, 2);
  expect_mentions(message_of([] { Nade(0, 2); }), {"0", "2"});
  expect_mentions(message_of([] { Nade(3, 2, {0, 1, 1}); }), {"order", "0 to 2"});
  expect_mentions(message_of([] { Nade(3, 2, {0, 1}); }), {"order"});
  expect_mentions(message_of([&] { (void)nade.log_probabilities(at::zeros({2, 5})); }), {"3", "5"});
  expect_mentions(message_of([&] { (void)nade.log_likelihood_gradient(at::zeros({0, 3})); }), {"at least one row"});
  expect_mentions(message_of([&] { (void)nade.sample_given(Key(1), at::zeros({1, 3}), at::zeros({4})); }), {"3", "4"});
  expect_mentions(message_of([&] { (void)nade.with_parameters(Nade(4, 2).parameters()); }), {"encoder.weights", "8"});
  expect_mentions(message_of([&] { (void)nade.with_parameters({{"hidden.bias", at::zeros({2})}}); }), {"4", "1"});
  expect_mentions(message_of([] {
                    Nade other(3, 2);
                    initialize(other, Key(1), at::zeros({2}));
                  }),
                  {"3", "2", "means"});
}

}  // namespace
}  // namespace harmonium
